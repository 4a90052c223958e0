-- seqlease count_operator (L16): what another transaction of the call changed
UPDATE audit SET entries = entries + @entries WHERE number = @number
