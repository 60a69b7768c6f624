"""HTML of reports: markup, pages, tables, and figures inside a page."""
