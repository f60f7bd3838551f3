# SPDX-License-Identifier: GPL-2.0
# Completion of trapline's command line for fish. What commands and options there are its
# --help says; what can be probed, trapline list.

# The options of a command, a line each: --long, -short or -, the value's name or -, description
function __trapline_options --argument-names tool command
    $tool $command --help 2>/dev/null | awk '/^  -/ {
        short = $1 ~ /^-[^-],?$/ ? substr($1, 1, 2) : "-"
        for (i = 1; $i !~ /^--[a-z]/ && i < NF; i++);
        long = $i
        if ($(i + 1) == "]") i++
        value = $(i + 1) ~ /^[A-Z]+[][A-Z,]*$/ ? $(++i) : "-"
        words = ""
        while (++i <= NF) words = words (words == "" ? "" : " ") $i
        print long "\t" short "\t" value "\t" words
    }'
end

# Functions whose names begin so, behind [kprobe:|kretprobe:][MODULE:], and these beginnings.
function __trapline_probes --argument-names tool current kinds
    set -l current (string replace --regex '^[\'"]' '' -- $current)
    string match --quiet --regex '^[A-Za-z0-9_.$:-]*$' -- $current; or return
    set -l kind
    test -n "$kinds"; and set kind (string match --regex '^(?:kprobe:|kretprobe:)' -- $current)
    set -l name (string replace -- "$kind" '' $current)
    set -l module (string match --regex '^[^:]*:' -- $name)
    test -n "$kinds" -a -z "$kind" -a -z "$module"; and printf '%s\n' kprobe: kretprobe:
    test -n "$name"; or return
    test -n "$module"; or awk -v before="$kind" '{ print before $1 ":" }' /proc/modules 2>/dev/null
    test -n "$module"; or echo $kind"kernel:"
    $tool list "$name*" 2>/dev/null | awk -v before="$kind$module" \
        '$1 ~ /^[A-Za-z_.$][A-Za-z0-9_.$]*(#[0-9]+)?$/ { print before $1 }'
end

function __trapline_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l tool $words[1]
    set -l command $words[2]
    if test (count $words) = 1
        $tool --help 2>/dev/null | awk '/^Commands:/ { on = 1; next } !NF { on = 0 }
            on { name = $1; sub(/^ *[^ ]+ */, ""); print name "\t" $0 }'
        printf '%s\n' --help --version
        return
    end
    set -l dashes (contains --index -- -- $words)
    if test -n "$dashes"
        set -l behind (string escape -- $words[(math $dashes + 1)..-1])
        complete -C "$behind $current"
        return
    end

    set -l option $words[-1]
    set -l before ''
    if string match --quiet --regex '^--[^=]*=' -- $current
        set option (string replace --regex '=.*' '' -- $current)
        set before $option=
        set current (string replace --regex '^[^=]*=' '' -- $current)
    end
    set -l lines (__trapline_options $tool $command)
    set -l value
    for line in $lines
        set -l fields (string split \t -- $line)
        test $fields[3] != - -a \( "x$fields[1]" = "x$option" -o "x$fields[2]" = "x$option" \)
        and set value $fields[3]
    end
    switch "$option:$value"
        case '*:FILE' '*:LOG'
            __fish_complete_path $current
        case '*:DIR'
            __fish_complete_directories $current
        case '*:PID*'
            __fish_complete_pids
        case '--user:*' '--uid:*'
            __fish_complete_users
        case '*:PROBE'
            __trapline_probes $tool "$current" kinds
        case '*:TRIGGER'
            printf '%s\n' SIGINT SIGUSR1 failure
            __trapline_probes $tool "$current" kinds
    end | string replace --regex '^' -- "$before"
    test -z "$value"; or return

    if string match --quiet -- '-*' $current
        for line in $lines
            set -l fields (string split \t -- $line)
            printf '%s\t%s\n' $fields[1] $fields[4]
            test $fields[2] = -; or printf '%s\t%s\n' $fields[2] $fields[4]
        end
        return
    end
    switch ($tool $command --help 2>/dev/null | head -n 1)
        case '*PROBE*'
            __trapline_probes $tool "$current" kinds
        case '*GLOB*'
            __trapline_probes $tool "$current" ''
        case '*DIR*'
            __fish_complete_directories $current
    end
end

complete --command trapline --no-files --keep-order --arguments '(__trapline_complete)'
