"""Which installations of fastrank a Python process has on its path."""

# Other installations would lend their library: all go but the working folder and $SITE.
ALONE = (
    "import os, sys\n"
    "kept = ('', os.environ.get('SITE'))\n"
    "others = [entry for entry in sys.path if os.path.isdir(os.path.join(entry, 'fastrank'))]\n"
    "sys.path = [entry for entry in sys.path if entry in kept or entry not in others]\n"
)
