# What a document says of the options: those that decide what is counted, in one spelling.
. "$(dirname "$0")/lib.sh"
