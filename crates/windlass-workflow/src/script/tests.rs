use std::ops::Range;

use super::*;
use crate::codes::Code;

/// Splits a script as the template reader does, far enough for tests.
fn pieces(script: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while let Some(open) = script[at..].find("${{").map(|found| at + found) {
        let close = script[open..].find("}}").map_or(script.len(), |found| open + found);
        if at < open {
            pieces.push(Piece::Text { text: &script[at..open], at });
        }
        at = (close + 2).min(script.len());
        pieces.push(Piece::Hole { at: open..at, source: script[open + 3..close].trim() });
    }
    if at < script.len() {
        pieces.push(Piece::Text { text: &script[at..], at });
    }
    pieces
}

/// The script with `$1`, `$2` for the references, so that tables stay readable.
fn rewritten(script: &str) -> Result<String, Vec<TextError>> {
    compile(&pieces(script)).map(|script| script.text.replace(VARIABLE_PREFIX, ""))
}

fn check(script: &str, expected: &str) {
    assert_eq!(rewritten(script).as_deref(), Ok(expected), "{script}");
}

/// Checks that exactly the holes that say `bad` are refused, and that the message and help say so.
fn check_refused(script: &str, message: &str, help: &str) {
    let errors = rewritten(script).expect_err(script);
    let expected: Vec<Range<usize>> =
        script.match_indices("${{ bad }}").map(|(at, hole)| at..at + hole.len()).collect();
    assert_eq!(
        errors.iter().map(|error| error.at.clone()).collect::<Vec<_>>(),
        expected,
        "{script}: {errors:?}"
    );
    for error in errors {
        assert_eq!(error.code, Code::UnsafeQuoting);
        assert!(error.message.contains(message), "{script}: {}", error.message);
        let advice = error.help.unwrap_or_default();
        assert!(advice.contains(help), "{script}: {advice}");
    }
}

/// Checks that the scan breaks off at the first `opener` after the mark `¡`, which is removed.
fn check_broken(marked: &str, length: usize, message: &str) {
    let at = marked.find('¡').expect("a mark");
    let script = marked.replace('¡', "");
    let errors = rewritten(&script).expect_err(&script);
    assert_eq!(errors.len(), 1, "{script}: {errors:?}");
    assert_eq!(errors[0].at, at..at + length, "{script}: {errors:?}");
    assert!(errors[0].message.contains(message), "{script}: {}", errors[0].message);
    assert!(errors[0].help.is_some());
}

#[test]
fn words_get_quotes_around_the_reference() {
    check("echo ${{ x }}", r#"echo "${1}""#);
    check("./load --day=${{ x }}.csv", r#"./load --day="${1}".csv"#);
    check("X=${{ y }} cmd ${{ y }} ${{ z }}", r#"X="${1}" cmd "${1}" "${2}""#);
    check("case ${{ x }} in ${{ y }}) echo ${{ x }};; esac", r#"case "${1}" in "${2}") echo "${1}";; esac"#);
    check("${{ tool }} a; bin/${{ tool }} b", r#""${1}" a; bin/"${1}" b"#);
    check("for d in ${{ a }} ${{ b }}; do echo $d; done", r#"for d in "${1}" "${2}"; do echo $d; done"#);
    check("cat <<<${{ x }} >${{ y }} 2>>${{ z }}", r#"cat <<<"${1}" >"${2}" 2>>"${3}""#);
    check("cmd &>${{ x }} >|${{ y }}", r#"cmd &>"${1}" >|"${2}""#);
    check("a=(${{ x }} 'y' ${{ z }})", r#"a=("${1}" 'y' "${2}")"#);
    check("export A=${{ x }} \"B=${{ y }}\"", r#"export A="${1}" "B=${2}""#);
    check("rm file[${{ x }}]*", r#"rm file["${1}"]*"#);
    check("[ ${{ x }} -eq 3 ] && [[ ${{ y }} == a* ]]", r#"[ "${1}" -eq 3 ] && [[ "${2}" == a* ]]"#);
    check("[[ a =~ ^(x|y)$ ]] || echo ${{ x }}", r#"[[ a =~ ^(x|y)$ ]] || echo "${1}""#);
    check("ls !(${{ x }}|b) @(c|${{ y }})", r#"ls !("${1}"|b) @(c|"${2}")"#);
}

#[test]
fn double_quotes_and_here_documents_need_none() {
    check(r#"echo "a ${{ x }} b""#, r#"echo "a ${1} b""#);
    check(r#"echo $"a ${{ x }}" "\"${{ x }}\"""#, r#"echo $"a ${1}" "\"${1}\"""#);
    check(r#"echo "it's" ${{ x }}"#, r#"echo "it's" "${1}""#);
    check(r#"echo 'a'${{ x }}'b'"#, r#"echo 'a'"${1}"'b'"#);
    check(r#"echo $'a\'b' ${{ x }}"#, r#"echo $'a\'b' "${1}""#);
    check(
        "cat <<EOF\n'${{ x }}' \"${{ x }}\"\nEOF\necho ${{ x }}",
        "cat <<EOF\n'${1}' \"${1}\"\nEOF\necho \"${1}\"",
    );
    check("cat <<-EOF\n\t${{ x }}\n\tEOF\necho ${{ x }}", "cat <<-EOF\n\t${1}\n\tEOF\necho \"${1}\"");
    check(
        "cat <<A <<'B' ${{ x }}\n${{ x }}\nA\n$'\nB\n${{ x }}",
        "cat <<A <<'B' \"${1}\"\n${1}\nA\n$'\nB\n\"${1}\"",
    );
    check("cat <<A\nx\\\nA\n${{ x }}\nA\n${{ x }}", "cat <<A\nx\\\nA\n${1}\nA\n\"${1}\"");
    check("cat <<A | (\n${{ x }}\nA\ncat ${{ x }})", "cat <<A | (\n${1}\nA\ncat \"${1}\")");
    check("cat <<A\n$(echo ${{ x }} ')')${{ x }}\nA", "cat <<A\n$(echo \"${1}\" ')')${1}\nA");
}

#[test]
fn substitutions_start_afresh() {
    check(r#"echo "$(cmd ${{ x }} "${{ x }}") ${{ x }}""#, r#"echo "$(cmd "${1}" "${1}") ${1}""#);
    check("a=`cmd ${{ x }} '\"' \"${{ x }}\"` ${{ x }}", "a=`cmd \"${1}\" '\"' \"${1}\"` \"${1}\"");
    check(
        "x=$(case a in b) echo ${{ x }};; (c|d) :;; esac) ${{ x }}",
        r#"x=$(case a in b) echo "${1}";; (c|d) :;; esac) "${1}""#,
    );
    check("x=$(cat <<E\n) ${{ x }}\nE\n) ${{ x }}", "x=$(cat <<E\n) ${1}\nE\n) \"${1}\"");
    check("x=$(a # it's ) \" ${{ x }}\n) ${{ x }}", "x=$(a # it's ) \" ${1}\n) \"${1}\"");
    check("diff <(a ${{ x }}) >(b ${{ x }})", r#"diff <(a "${1}") >(b "${1}")"#);
    check("(cd ${{ x }}; f() { echo ${{ x }}; }; f)", r#"(cd "${1}"; f() { echo "${1}"; }; f)"#);
    check("echo $((1 + $(f ${{ x }}))) ${{ x }}", r#"echo $((1 + $(f "${1}"))) "${1}""#);
    check("x=$([[ a == b ]]) ${{ x }}", r#"x=$([[ a == b ]]) "${1}""#);
    check("echo \"${x:-$(f ${{ x }})}\"", "echo \"${x:-$(f \"${1}\")}\"");
}

#[test]
fn quotes_and_signs_that_mean_nothing_are_not_mistaken() {
    check(
        "echo a#'b' ${x#y} $# ${#x} # it's ${{ x }}\necho ${{ x }}",
        "echo a#'b' ${x#y} $# ${#x} # it's ${1}\necho \"${1}\"",
    );
    check(
        r#"echo ${x:-'}'} "${x:-'q r'}" "${x:-"a b"}" "${x%'}'}" ${{ x }}"#,
        r#"echo ${x:-'}'} "${x:-'q r'}" "${x:-"a b"}" "${x%'}'}" "${1}""#,
    );
    check(r#"echo \' \" \` \$ "\`" ${{ x }}"#, r#"echo \' \" \` \$ "\`" "${1}""#);
    check("echo a\\\n  ${{ x }} $$${{ x }}", "echo a\\\n  \"${1}\" $$\"${1}\"");
}

#[test]
fn keywords_are_keywords_only_where_commands_start() {
    check("echo case a in b; echo ${{ x }}", r#"echo case a in b; echo "${1}""#);
    check("echo [[ eval ${{ x }}; x=eval; y ${{ x }}", r#"echo [[ eval "${1}"; x=eval; y "${1}""#);
    check(
        "if case a in a) true;; esac then echo ${{ x }}; fi",
        r#"if case a in a) true;; esac then echo "${1}"; fi"#,
    );
    check(
        "while read -r a; do b ${{ x }}; done < ${{ x }}",
        r#"while read -r a; do b "${1}"; done < "${1}""#,
    );
    check("bash ${{ script }} -c ${{ x }}; grep -c ${{ x }}", r#"bash "${1}" -c "${2}"; grep -c "${2}""#);
    check("sh -c 'echo \"$1\"' sh ${{ x }}", r#"sh -c 'echo "$1"' sh "${1}""#);
    check(
        "for ((i = 0; i < 3; i++)); do echo ${{ x }}; done",
        r#"for ((i = 0; i < 3; i++)); do echo "${1}"; done"#,
    );
    check("read -p ${{ x }} name; printf -v a %s ${{ x }}", r#"read -p "${1}" name; printf -v a %s "${1}""#);
    check("printf 'a %s' ${{ x }}; printf \"a ${{ x }}\"", r#"printf 'a %s' "${1}"; printf "a ${1}""#);
    check("printf -- ${{ x }}; printf \"$f\" ${{ x }}", r#"printf -- "${1}"; printf "$f" "${1}""#);
    check("declare -a a=(${{ x }}) b=(c ${{ x }})", r#"declare -a a=("${1}") b=(c "${1}")"#);
    check("[ ${{ x }} = ${{ y }} -o ! ${{ x }} ]", r#"[ "${1}" = "${2}" -o ! "${1}" ]"#);
    check("bash \"$file\" -c ${{ x }}; time -p f ${{ x }}", r#"bash "$file" -c "${1}"; time -p f "${1}""#);
    check("command -v ${{ x }}; trap 'rm x' ${{ x }}", r#"command -v "${1}"; trap 'rm x' "${1}""#);
}

#[test]
fn places_where_nothing_is_expanded_are_refused() {
    check_refused("echo 'a ${{ bad }}' ${{ x }}", "inside single quotes", "'…'${{ bad }}'…'");
    check_refused("echo $'a ${{ bad }}\\'${{ bad }}'", "inside `$'…'`", "$'…'${{ bad }}$'…'");
    for delimiter in ["'EOF'", "\"EOF\"", "\\EOF", "E'O'F", "-'EOF'", " 'EOF'"] {
        let script = format!("cat <<{delimiter}\n${{{{ bad }}}}\nEOF\necho ${{{{ x }}}}");
        check_refused(&script, "here-document with a quoted delimiter", "`<<EOF`");
    }
    check_refused("cat <<E${{ bad }}\nE\n", "delimiter of a here-document", "fixed word");
    check_refused(
        "echo \\${{ bad }} \"\\${{ bad }}\" \\\\${{ x }}",
        "after a backslash",
        "`$${{` writes a literal `${{`",
    );
    check_refused("echo $${{ bad }}", "after a `$`", "'$'${{ bad }}");
    check_refused(
        "echo \"`cmd ${{ bad }}`\" `a \\`b ${{ bad }}\\``",
        "in backticks",
        "$(command ${{ bad }})",
    );
    check_refused("cat <<E\n`a ${{ bad }}`\nE", "in backticks", "$(command ${{ bad }})");
}

#[test]
fn places_where_the_value_would_be_code_are_refused() {
    for script in [
        "echo $(( ${{ bad }} + 1 ))",
        "echo \"$((\"${{ bad }}\"))\"",
        "((n = ${{ bad }}))",
        "if ((${{ bad }})); then :; fi",
        "for ((i = 0; i < ${{ bad }}; i++)); do echo ${{ x }}; done",
        "echo $[${{ bad }}] ${x:${{ bad }}} ${x:1:${{ bad }}}",
        "let x=${{ bad }}",
    ] {
        check_refused(script, "in arithmetic", "$(expr ${{ bad }} + 1)");
    }
    for script in
        ["[[ ${{ bad }} -eq 3 ]] && echo ${{ x }}", "[[ a && (3 -lt \"${{ bad }}\") || ${{ x }} == a ]]"]
    {
        check_refused(script, "arithmetic test", "[ ${{ bad }} -eq 0 ]");
    }
    for script in [
        "a[${{ bad }}]=1",
        "a[1 + ${{ bad }}]=${{ x }}",
        "echo ${a[${{ bad }}]}",
        "a=([${{ bad }}]=${{ x }})",
        "declare a[${{ bad }}]=1",
    ] {
        check_refused(script, "in an array subscript", "`case`");
    }
    for script in ["echo ${x:-${{ bad }}}", "echo \"${x%\"${{ bad }}\"}\" ${x//${{ bad }}/b}"] {
        check_refused(script, "inside `${…}`", "value=${{ bad }}");
    }
    for script in [
        "${{ bad }}=1",
        "A_${{ bad }}=${{ x }}",
        "for ${{ bad }} in a; do :; done",
        "export ${{ bad }}=1",
        "unset ${{ bad }}",
        "read -r ${{ bad }}",
        "printf -v ${{ bad }} x",
        "wait -n ${{ bad }}",
        "[ -v ${{ bad }} ] || [[ -v ${{ bad }} ]]",
        "echo ${${{ bad }}}",
    ] {
        check_refused(script, "the name of a variable", "fixed name");
    }
    check_refused("${{ bad }}() { :; }", "name of a function", "fixed name");
    check_refused("function ${{ bad }} { :; }", "name of a function", "fixed name");
    check_refused("echo >&${{ bad }} 2>& \"${{ bad }}\" >${{ x }}", "second time", ">${{ bad }} 2>&1");
    check_refused(
        "PS4=${{ bad }}; RANDOM=\"${{ bad }}\"; export BASH_ENV=${{ bad }}",
        "reads as code",
        "value=${{ bad }}",
    );
    check_refused("declare -ri n=${{ bad }}", "integer", "value=${{ bad }}");
    check_refused("declare -a -i n=(${{ bad }})", "integer", "value=${{ bad }}");
    for script in ["declare -a a=${{ bad }}", "f() { local -rA a=\"(${{ bad }})\" b=(${{ x }}); }"] {
        check_refused(script, "value of an array", "name=(${{ bad }})");
    }
    for script in [
        "printf ${{ bad }} x",
        "printf \"${{ bad }}\\n\" ${{ x }}",
        "printf -v a ${{ bad }} b",
        "printf -va[${{ bad }}] b",
    ] {
        check_refused(script, "an option", "printf '%s\\n' ${{ bad }}");
    }
    for script in ["[ ${{ x }} ${{ bad }} ]", "test a -a ! -${{ x }} \"${{ bad }}\""] {
        check_refused(script, "after another expression", "[ -n ${{ bad }} ]");
    }
    for script in [
        "eval ${{ bad }}",
        "a=1 command eval \"x ${{ bad }}\"",
        "\\eval \"$(f ${{ x }})\" ${{ bad }}",
        "alias a=${{ bad }}",
        "time -p eval ${{ bad }}",
        "time -p -- eval ${{ bad }}",
    ] {
        check_refused(script, "runs them as shell code", "without `eval`");
    }
    for script in [
        "sh -c \"ls ${{ bad }}\" sh ${{ x }}",
        "sudo -n /bin/bash -euo pipefail -c ls\\ ${{ bad }}",
        "timeout 5 bash -lc ${{ bad }}",
        "bash -o pipefail -ec \"${{ bad }}\"",
        "su - ${{ x }} -c ${{ bad }}",
        "bash $OPTS -c ${{ bad }}",
        "sh -$flags `more` -ec $OPTS ${{ bad }}",
    ] {
        check_refused(script, "command string of a shell", "sh -c '… \"$1\" …' sh ${{ bad }}");
    }
    check_refused("trap \"rm ${{ bad }}\" EXIT ${{ x }}", "`trap`", "value=${{ bad }}");
}

#[test]
fn what_cannot_be_made_out_is_refused_at_its_start() {
    check_broken("echo ${{ a }} ¡\"${{ x }}", 1, "double quote is never closed");
    check_broken("echo ¡'${{ x }}", 1, "single quote is never closed");
    check_broken("echo ¡$'${{ x }}\\'", 2, "single quote is never closed");
    check_broken("echo ¡$(echo ${{ x }}", 2, "command substitution is never closed");
    check_broken("echo ¡`echo ${{ x }}", 1, "backtick is never closed");
    check_broken("echo \"¡${x:-\"a}\" ${{ x }}", 2, "`${` is never closed");
    check_broken("cat ¡<<EOF\n${{ x }}\n EOF\n", 5, "no end line");
    check_broken("x=$(cat ¡<<EOF\n${{ x }}\nEOF)\n", 5, "no end line");
    check_broken("x=$(cat ¡<<EOF)\n${{ x }}\nEOF\n", 5, "does not end where the command does");
    check_broken("cat ¡<<EOF $(\n${{ x }}\nEOF\n)", 5, "does not end where the command does");
    check_broken("¡((echo a); echo ${{ x }})", 2, "two subshells");
    check_broken("¡$((echo a) | cat ${{ x }})", 3, "two subshells");
    check_broken("echo ${{ x }} ¡) b", 1, "closes nothing");
    check_broken("¡case a in b) echo ${{ x }}", 1, "`case` is never closed");
    check_broken("echo \"${x:-¡'}\" ${{ x }}", 1, "shells disagree");
    check_broken("echo $((¡'))) ${{ x }}", 1, "shells disagree");
    check_broken("cat ¡<< ; echo ${{ x }}", 3, "no delimiter");
    check_broken("`echo ¡'` ${{ x }}' `", 1, "single quote is never closed");
    let deep = format!("echo {}${{{{ x }}}}{}", "$(".repeat(200), ")".repeat(200));
    let errors = rewritten(&deep).expect_err("deep");
    assert!(errors[0].message.contains("nests deeper"), "{errors:?}");
}

#[test]
fn trouble_after_the_last_hole_is_left_to_the_shell() {
    check("echo ${{ x }} 'a", "echo \"${1}\" 'a");
    check("echo ${{ x }} <<E\n$(", "echo \"${1}\" <<E\n$(");
}

#[test]
fn equal_expressions_share_a_variable() {
    let script = compile(&pieces("a ${{ x }} ${{y}} \"${{x}}\"")).unwrap();
    let expected = [("WINDLASS_EXPR_1", vec![0, 2]), ("WINDLASS_EXPR_2", vec![1])];
    let variables: Vec<_> = script.variables.iter().map(|v| (v.name.as_str(), v.holes.clone())).collect();
    assert_eq!(variables, expected);
}

#[test]
fn positions_count_in_the_original_text() {
    // The template reader turned `$${{` into `${{`, so text and original differ in length.
    let pieces = [
        Piece::Text { text: "echo '", at: 10 },
        Piece::Text { text: "${{", at: 17 },
        Piece::Hole { at: 30..39, source: "bad" },
        Piece::Text { text: "' \"", at: 39 },
        Piece::Hole { at: 42..50, source: "x" },
    ];
    let errors = compile(&pieces).unwrap_err();
    assert_eq!(errors.iter().map(|error| error.at.clone()).collect::<Vec<_>>(), [30..39, 41..42]);
}

#[test]
fn a_script_without_holes_is_not_touched() {
    for script in ["", "echo 'a", "$(((", "cat <<EOF\n'", ")", "\u{0}\u{1}ü`"] {
        let compiled = compile(&[Piece::Text { text: script, at: 0 }]).unwrap();
        assert_eq!(compiled, Script { text: script.into(), variables: vec![] });
    }
}
