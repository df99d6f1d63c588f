// Answers every request with one text.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
)

const text = @TEXT@

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprint(w, text)
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
