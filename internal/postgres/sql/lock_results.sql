-- seqlease lock_results (L13, V5): waits for all who store or remove results, and keeps others from it until the transaction ends; reading goes on
LOCK TABLE result IN SHARE MODE
