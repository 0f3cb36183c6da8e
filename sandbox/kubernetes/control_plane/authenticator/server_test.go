package authenticator

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	authentication "k8s.io/api/authentication/v1"
	"sigs.k8s.io/aws-iam-authenticator/pkg/metrics"

	"github.com/prometheus/client_golang/prometheus"
)

func TestTheAccountIsAskedForTheCanonicalRole(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(keyHeader) != testKey {
			http.Error(w, "no access key", http.StatusForbidden)
			return
		}
		asked = append(asked, r.URL.RequestURI())
		w.Write([]byte(`{"authentication_mode": "API", "access_entry":
			{"username": "system:node:{{EC2PrivateDNSName}}", "kubernetes_groups": ["system:nodes"]},
			"private_dns_name": "ip-10-0-1-2.us-west-2.compute.internal"}`))
	}))
	defer server.Close()
	user, err := (&users{newAccount(server.URL, testKey, "p5-cb"), configMap{}}).user(t.Context(), nodeToken)
	if err != nil || user.Username != "system:node:"+nodeDNS {
		t.Errorf("got %+v, %v", user, err)
	}
	want := []string{
		"/_trainyard/caller?access_key=SANDBOX00",
		"/_trainyard/identity?arn=arn%3Aaws%3Aiam%3A%3A123456789012%3Arole%2Fp5-node&cluster=p5-cb&session=i-0123456789abcdef0",
	}
	if !slices.Equal(asked, want) {
		t.Errorf("asked %s, want %s", asked, want)
	}
}

func TestAnAnswerThatIsNoneIsExplained(t *testing.T) {
	for _, test := range []struct {
		status      int
		body, words string
	}{
		{http.StatusNotFound, "no account has this access key", "no account has this access key"},
		{http.StatusBadRequest, "missing: arn", "missing: arn"},
		{http.StatusOK, "<html>", "not the expected JSON"},
		{http.StatusOK, `{"authentication_mode": "NONE"}`, `"NONE"`},
	} {
		t.Run(test.words, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(test.status)
				w.Write([]byte(test.body))
			}))
			defer server.Close()
			_, err := (&users{newAccount(server.URL, testKey, "p5-cb"), configMap{}}).user(t.Context(), nodeToken)
			if err == nil || !strings.Contains(err.Error(), test.words) {
				t.Errorf("got %v; want %q", err, test.words)
			}
		})
	}
}

func TestAReviewIsAnsweredWithTheReason(t *testing.T) {
	body, _ := json.Marshal(authentication.TokenReview{Spec: authentication.TokenReviewSpec{Token: nodeToken}})
	recorder := httptest.NewRecorder()
	webhook := handler(&users{known{AuthenticationMode: modeConfigMap}, configMap{}}, testKey)
	request := httptest.NewRequest(http.MethodPost, "/authenticate", bytes.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+testKey)
	webhook.ServeHTTP(recorder, request)
	var review authentication.TokenReview
	if err := json.Unmarshal(recorder.Body.Bytes(), &review); err != nil {
		t.Fatal(err)
	}
	if review.Status.Authenticated || review.Status.Error != nodeRole+" is not in aws-auth" {
		t.Errorf("got %+v", review.Status)
	}
}

func TestNobodyButTheAPIServerIsAnswered(t *testing.T) {
	body, _ := json.Marshal(authentication.TokenReview{Spec: authentication.TokenReviewSpec{Token: nodeToken}})
	webhook := handler(&users{known{AuthenticationMode: modeConfigMap}, configMap{role: nodeRole}}, testKey)
	for _, authorization := range []string{"", "Bearer ", "Bearer " + testKey + "0", testKey} {
		recorder := httptest.NewRecorder()
		request := httptest.NewRequest(http.MethodPost, "/authenticate", bytes.NewReader(body))
		request.Header.Set("Authorization", authorization)
		webhook.ServeHTTP(recorder, request)
		if recorder.Code != http.StatusUnauthorized || strings.Contains(recorder.Body.String(), "p5-node") {
			t.Errorf("%q: got %d %s", authorization, recorder.Code, recorder.Body)
		}
	}
}

func TestParsePrintsWhatWasFoundAndWhatWasRefused(t *testing.T) {
	metrics.InitMetrics(prometheus.NewRegistry())
	var out bytes.Buffer
	in := strings.NewReader(`{"mapRoles": "- rolearn: arn:aws:iam::1:role/a\n  username: u\n  groups: [g]\n", "mapUsers": "{"}`)
	if err := parse(in, &out); err != nil {
		t.Fatal(err)
	}
	var parsed parsedMap
	if err := json.Unmarshal(out.Bytes(), &parsed); err != nil {
		t.Fatal(err)
	}
	if len(parsed.Roles) != 1 || parsed.Roles[0].Username != "u" || parsed.Error == "" {
		t.Errorf("got %s", out.String())
	}
}

func TestEveryMissingOptionIsNamed(t *testing.T) {
	t.Setenv(keyVariable, "")
	_, err := readOptions([]string{"--cluster=p5-cb"})
	if err == nil || err.Error() != "missing: the variable TRAINYARD_SANDBOX_ACCESS_KEY, --account-endpoint, --kubeconfig, --listen, --tls-cert-file, --tls-private-key-file" {
		t.Errorf("got %v", err)
	}
}
