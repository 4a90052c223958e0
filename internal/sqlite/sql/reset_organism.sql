-- seqlease reset_organism (V1): version 1 is current
UPDATE organism SET current_pipeline_version = 1
