// Answers a JSON document with itself.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
)

const bodyBytes = 1 << 20

func answer(w http.ResponseWriter, status int, document any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(document)
}

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			answer(w, http.StatusOK, map[string]string{"method": r.Method, "path": r.URL.Path})
			return
		}
		var document any
		body := http.MaxBytesReader(w, r.Body, bodyBytes)
		if err := json.NewDecoder(body).Decode(&document); err != nil {
			answer(w, http.StatusBadRequest, map[string]string{"error": "the body is not JSON"})
			return
		}
		answer(w, http.StatusOK, document)
	})
	serve()
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
