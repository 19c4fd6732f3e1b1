def write_tables(work, results):
    pass
