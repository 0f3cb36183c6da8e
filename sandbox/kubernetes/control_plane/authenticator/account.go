package authenticator

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"sigs.k8s.io/aws-iam-authenticator/pkg/token"
)

// The authentication modes of an EKS cluster, accessConfig.authenticationMode in
// https://docs.aws.amazon.com/eks/latest/APIReference/API_AccessConfigResponse.html
const (
	modeConfigMap       = "CONFIG_MAP"
	modeAPIAndConfigMap = "API_AND_CONFIG_MAP"
	modeAPI             = "API"
)

// accessEntry is the part of an EKS access entry that decides who the caller is.
type accessEntry struct {
	Username string   `json:"username"`
	Groups   []string `json:"kubernetes_groups"`
}

// answer is what the sandbox account knows about a caller of one cluster.
type answer struct {
	AuthenticationMode string       `json:"authentication_mode"`
	AccessEntry        *accessEntry `json:"access_entry"`
	PrivateDNSName     string       `json:"private_dns_name"`
}

func (a answer) hasConfigMap() bool {
	return a.AuthenticationMode == modeConfigMap || a.AuthenticationMode == modeAPIAndConfigMap
}

func (a answer) hasAccessEntries() bool {
	return a.AuthenticationMode == modeAPI || a.AuthenticationMode == modeAPIAndConfigMap
}

// account asks the sandbox account, which plays the EKS and EC2 APIs that the real
// authenticator of EKS calls.
type account struct {
	endpoint string
	cluster  string
	client   *http.Client
}

func newAccount(endpoint, cluster string) *account {
	return &account{endpoint: endpoint, cluster: cluster, client: &http.Client{Timeout: 5 * time.Second}}
}

func (a *account) identity(ctx context.Context, caller *token.Identity) (answer, error) {
	query := url.Values{
		"cluster": {a.cluster},
		"arn":     {caller.CanonicalARN},
		"session": {caller.SessionName},
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.endpoint+"/_trainyard/identity?"+query.Encode(), nil)
	if err != nil {
		return answer{}, fmt.Errorf("cannot ask the sandbox account: %w", err)
	}
	response, err := a.client.Do(request)
	if err != nil {
		return answer{}, fmt.Errorf("the sandbox account does not answer: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNotFound {
		return answer{}, fmt.Errorf("the sandbox account has no cluster %q", a.cluster)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return answer{}, fmt.Errorf("the sandbox account's answer broke off: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return answer{}, fmt.Errorf("the sandbox account answered %s: %s", response.Status, body)
	}
	var known answer
	if err := json.Unmarshal(body, &known); err != nil {
		return answer{}, fmt.Errorf("the sandbox account's answer is not the expected JSON: %w", err)
	}
	if !known.hasConfigMap() && !known.hasAccessEntries() {
		return answer{}, fmt.Errorf("the sandbox account names the unknown authentication mode %q", known.AuthenticationMode)
	}
	return known, nil
}
