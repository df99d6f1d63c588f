# The first process of a session. For each line of its input it runs the runner, its arguments, once; or it
# looks again at what an earlier invocation has written. Output goes to files: an app that keeps a stream open
# blocks no writer. Descriptor 9 is the log of the app.
answers=$(mktemp -d) || exit 1
exec 9>&2
while read -r what number; do
    output=$answers/$number.out error=$answers/$number.err code=0
    if [ "$what" = run ]; then
        "$@" <"/requests/$number" >"$output" 2>"$error" || code=$?
    fi
    output_size=$(wc -c <"$output") error_size=$(wc -c <"$error")
    echo "$number" "$code" "$output_size" "$error_size"
    if [ "$what" = run ]; then
        head -c "$output_size" "$output"
        head -c "$error_size" "$error"
    fi
done
