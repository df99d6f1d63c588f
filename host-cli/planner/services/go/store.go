// Keeps values by their keys in memory: PUT, GET and DELETE of /<key>.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sort"
	"strings"
	"sync"
)

const (
	valueBytes = 1 << 20
	valuesMax  = 10_000
)

var (
	values = map[string][]byte{}
	lock   sync.Mutex
)

func main() {
	http.HandleFunc("/", handle)
	serve()
}

func handle(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, valueBytes))
	if err != nil {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	lock.Lock()
	defer lock.Unlock()
	key := r.URL.Path
	value, known := values[key]
	switch {
	case r.Method == http.MethodGet && key == "/":
		var keys []string
		for key := range values {
			keys = append(keys, key)
		}
		sort.Strings(keys)
		fmt.Fprint(w, strings.Join(keys, "\n"))
	case r.Method == http.MethodPut && !known && len(values) >= valuesMax:
		w.WriteHeader(http.StatusInsufficientStorage)
	case r.Method == http.MethodPut:
		values[key] = body
		w.WriteHeader(http.StatusNoContent)
	case !known:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodGet:
		_, _ = w.Write(value)
	case r.Method == http.MethodDelete:
		delete(values, key)
		w.WriteHeader(http.StatusNoContent)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func serve() {
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on port " + port)
	log.Fatal(http.Serve(listener, nil))
}
