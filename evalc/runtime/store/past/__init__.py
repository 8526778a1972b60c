"""From the names of earlier runs to what they brought: read, compared, gone on with, checked again."""
