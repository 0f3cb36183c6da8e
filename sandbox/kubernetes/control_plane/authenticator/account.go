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

// The sandbox's access key: the variable in which the daemon passes it, and the header of requests
// to the account (sandbox/access.py).
const (
	keyVariable = "TRAINYARD_SANDBOX_ACCESS_KEY"
	keyHeader   = "X-Trainyard-Access-Key"
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
	// Creator is set where the caller made the cluster: EKS lets it in whatever the mode says.
	Creator        *accessEntry `json:"creator"`
	PrivateDNSName string       `json:"private_dns_name"`
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
	key      string
	cluster  string
	client   *http.Client
}

func newAccount(endpoint, key, cluster string) *account {
	client := &http.Client{Timeout: 5 * time.Second}
	return &account{endpoint: endpoint, key: key, cluster: cluster, client: client}
}

func (a *account) identity(ctx context.Context, caller *token.Identity) (answer, error) {
	query := url.Values{
		"cluster": {a.cluster},
		"arn":     {caller.CanonicalARN},
		"session": {caller.SessionName},
	}
	var known answer
	if err := a.ask(ctx, "identity", query, &known); err != nil {
		return answer{}, err
	}
	if !known.hasConfigMap() && !known.hasAccessEntries() {
		return answer{}, fmt.Errorf("the sandbox account names the unknown authentication mode %q", known.AuthenticationMode)
	}
	return known, nil
}

// caller returns the ARN that STS would give for an access key; one that the account does not know
// is an error.
func (a *account) caller(ctx context.Context, accessKey string) (string, error) {
	var known struct {
		ARN string `json:"arn"`
	}
	err := a.ask(ctx, "caller", url.Values{"access_key": {accessKey}}, &known)
	return known.ARN, err
}

func (a *account) ask(ctx context.Context, what string, query url.Values, found any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.endpoint+"/_trainyard/"+what+"?"+query.Encode(), nil)
	if err != nil {
		return fmt.Errorf("cannot ask the sandbox account: %w", err)
	}
	request.Header.Set(keyHeader, a.key)
	response, err := a.client.Do(request)
	if err != nil {
		return fmt.Errorf("the sandbox account does not answer: %w", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("the sandbox account's answer broke off: %w", err)
	}
	if response.StatusCode == http.StatusNotFound {
		return fmt.Errorf("the sandbox account refuses: %s", body)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the sandbox account answered %s: %s", response.Status, body)
	}
	if err := json.Unmarshal(body, found); err != nil {
		return fmt.Errorf("the sandbox account's answer is not the expected JSON: %w", err)
	}
	return nil
}
