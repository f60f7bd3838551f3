# SPDX-License-Identifier: GPL-2.0
# Completion of trapline's command line for bash, with bash-completion. What commands and
# options there are its --help says; what can be probed, trapline list.
# shellcheck shell=bash disable=SC2034,SC2154,SC2207 # its variables; words without blanks

__trapline_commands()
{
    "$1" --help 2>/dev/null | awk '/^Commands:/ { on = 1; next } !NF { on = 0 } on { print $1 }'
}

# The options of a command, a line each: --long, -short or -, the value's name or -
__trapline_options()
{
    "$1" "$2" --help 2>/dev/null | awk '/^  -/ {
        short = $1 ~ /^-[^-],?$/ ? substr($1, 1, 2) : "-"
        for (i = 1; $i !~ /^--[a-z]/ && i < NF; i++);
        value = $(i + 1) == "]" ? $(i + 2) : $(i + 1)
        print $i, short, value ~ /^[A-Z]+[][A-Z,]*$/ ? value : "-"
    }'
}

# Functions whose names begin so, behind [kprobe:|kretprobe:][MODULE:], and these beginnings.
__trapline_probes()
{
    local tool=$1 kinds=$2 kind='' module='' name
    cur=${cur#[\'\"]}
    [[ $cur =~ ^[A-Za-z0-9_.$:-]*$ ]] || return
    [[ ! $kinds || ! $cur =~ ^(kprobe:|kretprobe:) ]] || kind=${BASH_REMATCH[1]}
    name=${cur#"$kind"}
    if [[ $name == *:* ]]; then
        module=${name%%:*}:
    else
        [[ ! $kinds || $kind ]] || COMPREPLY+=($(compgen -W 'kprobe: kretprobe:' -- "$cur"))
        [[ ! $name ]] || COMPREPLY+=($(compgen -P "$kind" -W \
            "kernel: $(awk '{ print $1 ":" }' /proc/modules 2>/dev/null)" -- "$name"))
    fi
    [[ ! $name ]] || COMPREPLY+=($("$tool" list "$name*" 2>/dev/null |
        awk -v before="$kind$module" '$1 ~ /^[A-Za-z_.$][A-Za-z0-9_.$]*(#[0-9]+)?$/ { print before $1 }'))
    [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *: ]] || compopt -o nospace
    __ltrim_colon_completions "$cur"
}

_trapline()
{
    local cur prev words cword split i value
    _init_completion -s -n : || return
    local tool=${words[0]/#\~/$HOME} command=${words[1]-}

    if ((cword == 1)); then
        COMPREPLY=($(compgen -W "$(__trapline_commands "$tool") --help --version" -- "$cur"))
        return
    fi
    for ((i = 2; i < cword; i++)); do
        if [[ ${words[i]} == -- ]]; then
            _command_offset $((i + 1))
            return
        fi
    done

    value=$(__trapline_options "$tool" "$command" |
        awk -v option="$prev" '($1 == option || $2 == option) && $3 != "-" { print $3 }')
    case $prev:$value in
        *:FILE | *:LOG) _filedir ;;
        *:DIR) _filedir -d ;;
        *:PID*) _pids ;;
        --user:* | --uid:*) COMPREPLY=($(compgen -u -- "$cur")) ;;
        *:PROBE) __trapline_probes "$tool" kinds ;;
        *:TRIGGER)
            COMPREPLY=($(compgen -W 'SIGINT SIGUSR1 failure' -- "$cur"))
            __trapline_probes "$tool" kinds
            ;;
    esac
    [[ ! $value && $split == false ]] || return

    if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$(__trapline_options "$tool" "$command" |
            awk '{ print $1; if ($2 != "-") print $2 }')" -- "$cur"))
        return
    fi
    case $("$tool" "$command" --help 2>/dev/null | head -n 1) in
        *PROBE*) __trapline_probes "$tool" kinds ;;
        *GLOB*) __trapline_probes "$tool" '' ;;
        *DIR*) _filedir -d ;;
    esac
} && complete -F _trapline trapline
