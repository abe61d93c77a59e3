#!/bin/sh
# Answers every prompt with the prompt: that of -p, else the first line of standard input. It asks no model.
while [ $# -gt 0 ]; do
    case $1 in
    -p | --print)
        case ${2-} in
        '' | --*) break ;;
        esac
        printf '%s\n' "$2"
        exit 0
        ;;
    esac
    shift
done
timeout 2 head -n 1
exit 0
