"""`python -m kubesched` is the command `kubesched`."""

from kubesched.cli import main

main()
