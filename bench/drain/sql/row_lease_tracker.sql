-- bench row_lease_tracker: each statement that changes the table updates one row
CREATE TRIGGER processing_changed AFTER INSERT OR UPDATE OR DELETE ON processing
    FOR EACH STATEMENT EXECUTE FUNCTION note_change('benchvirus');
