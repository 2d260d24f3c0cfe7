"""What the programs print in addition to their figures: tables in Markdown, and the machine that they ran on."""
