package queue

// everyStore is a store with all that the queue needs of it.
type everyStore struct {
	Store
	RenewStore
	WaitStore
	OperatorStore
}

func everyStoreOf(store Store) everyStore {
	every := everyStore{Store: store}
	every.RenewStore, _ = store.(RenewStore)
	every.WaitStore, _ = store.(WaitStore)
	every.OperatorStore, _ = store.(OperatorStore)
	return every
}
