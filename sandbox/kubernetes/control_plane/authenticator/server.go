// Package authenticator is the token webhook of the sandbox's API servers. It plays
// aws-iam-authenticator as EKS runs it: it turns the AWS identity of a caller into a Kubernetes
// user by the cluster's access entries and by the aws-auth ConfigMap, and it does so with
// aws-iam-authenticator's own packages wherever they are exported.
package authenticator

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	authentication "k8s.io/api/authentication/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/aws-iam-authenticator/pkg/config"
	"sigs.k8s.io/aws-iam-authenticator/pkg/mapper/configmap"
	"sigs.k8s.io/aws-iam-authenticator/pkg/metrics"
)

type options struct {
	kubeconfig      string
	listen          string
	cluster         string
	accountEndpoint string
	certificate     string
	privateKey      string
	key             string
	parse           bool
}

func readOptions(arguments []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("authenticator", flag.ContinueOnError)
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig file with which aws-auth is watched")
	flags.StringVar(&o.listen, "listen", "", "loopback address and port of the webhook, such as 127.0.0.1:21362")
	flags.StringVar(&o.cluster, "cluster", "", "name of the EKS cluster whose access entries count")
	flags.StringVar(&o.certificate, "tls-cert-file", "", "certificate of the webhook")
	flags.StringVar(&o.privateKey, "tls-private-key-file", "", "private key of the certificate")
	flags.StringVar(&o.accountEndpoint, "account-endpoint", "", "URL of the sandbox account, such as http://127.0.0.1:5000")
	flags.BoolVar(&o.parse, "parse", false, "read the data of an aws-auth ConfigMap as JSON from standard input, print the mappings found in it, and end")
	if err := flags.Parse(arguments); err != nil {
		return o, err
	}
	if o.parse {
		return o, nil
	}
	o.key = os.Getenv(keyVariable)
	var missing []string
	if o.key == "" {
		missing = append(missing, "the variable "+keyVariable)
	}
	flags.VisitAll(func(f *flag.Flag) {
		if f.Name != "parse" && f.Value.String() == "" {
			missing = append(missing, "--"+f.Name)
		}
	})
	if len(missing) > 0 {
		return o, fmt.Errorf("missing: %s", strings.Join(missing, ", "))
	}
	return o, nil
}

// Main runs the webhook until SIGTERM or SIGINT and returns the exit code: 0, 1 when it cannot
// work, 2 for wrong arguments.
func Main(arguments []string) int {
	o, err := readOptions(arguments)
	if err != nil {
		fmt.Fprintln(os.Stderr, "authenticator:", err)
		return 2
	}
	// The mapper counts watch failures; without a registry it would panic at the first one.
	metrics.InitMetrics(prometheus.NewRegistry())
	if o.parse {
		err = parse(os.Stdin, os.Stdout)
	} else {
		err = serve(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "authenticator:", err)
		return 1
	}
	return 0
}

func serve(o options) error {
	configMap, err := configmap.NewConfigMapMapper(config.Config{Kubeconfig: o.kubeconfig})
	if err != nil {
		return fmt.Errorf("cannot use the kubeconfig file %s: %w", o.kubeconfig, err)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	if err := configMap.Start(ctx.Done()); err != nil {
		return fmt.Errorf("cannot watch aws-auth: %w", err)
	}
	known := &users{account: newAccount(o.accountEndpoint, o.key, o.cluster), configMap: configMap}
	server := &http.Server{Addr: o.listen, Handler: handler(known, o.key), ReadHeaderTimeout: 5 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServeTLS(o.certificate, o.privateKey) }()
	select {
	case err := <-failed:
		return fmt.Errorf("cannot listen on %s: %w", o.listen, err)
	case <-ctx.Done():
		return server.Close()
	}
}

// handler answers TokenReviews of the API server on /authenticate and `ok` on /healthz. The API
// server has the key as its bearer token; nobody else learns whom a token names.
func handler(known *users, key string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("POST /authenticate", func(w http.ResponseWriter, r *http.Request) {
		given := []byte(r.Header.Get("Authorization"))
		if subtle.ConstantTimeCompare(given, []byte("Bearer "+key)) != 1 {
			http.Error(w, "only the API server of the cluster may ask", http.StatusUnauthorized)
			return
		}
		var review authentication.TokenReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, "the request is not a TokenReview: "+err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(answerReview(r.Context(), known, review.Spec.Token)); err != nil {
			log.Printf("the API server did not take the answer: %v", err)
		}
	})
	return mux
}

// answerReview never refuses with an HTTP error: the API server would retry those, and show
// nobody the reason. A reason in the status reaches whoever makes a TokenReview.
func answerReview(ctx context.Context, known *users, bearer string) authentication.TokenReview {
	review := authentication.TokenReview{
		TypeMeta: meta.TypeMeta{APIVersion: authentication.SchemeGroupVersion.String(), Kind: "TokenReview"},
	}
	user, err := known.user(ctx, bearer)
	if err != nil {
		log.Printf("access denied: %v", err)
		review.Status.Error = err.Error()
		return review
	}
	log.Printf("access granted: %s is %q of %q", user.Extra["arn"], user.Username, user.Groups)
	review.Status.Authenticated = true
	review.Status.User = user
	return review
}
