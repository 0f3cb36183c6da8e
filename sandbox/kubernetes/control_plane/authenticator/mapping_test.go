package authenticator

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/aws-iam-authenticator/pkg/config"
	"sigs.k8s.io/aws-iam-authenticator/pkg/errutil"
	"sigs.k8s.io/aws-iam-authenticator/pkg/mapper"
	"sigs.k8s.io/aws-iam-authenticator/pkg/token"
)

const (
	testKey     = "SANDBOX00"
	nodeToken   = testKey + sessionSeparator + nodeSession
	nodeSession = "arn:aws:sts::123456789012:assumed-role/p5-node/i-0123456789abcdef0"
	nodeRole    = "arn:aws:iam::123456789012:role/p5-node"
	nodeDNS     = "ip-10-0-1-2.us-west-2.compute.internal"
)

var nodeGroups = []string{"system:bootstrappers", "system:nodes"}

// known is an account that gives every caller the same answer.
type known answer

func (k known) identity(context.Context, *token.Identity) (answer, error) { return answer(k), nil }
func (k known) caller(context.Context, string) (string, error)            { return nodeSession, nil }

// configMap is aws-auth with one mapped role; no role is mapped where role is empty.
type configMap struct {
	role    string
	account string
}

var _ mapper.Mapper = configMap{}

func (c configMap) Name() string                         { return "test" }
func (c configMap) Start(<-chan struct{}) error          { return nil }
func (c configMap) IsAccountAllowed(account string) bool { return account == c.account }
func (c configMap) UsernamePrefixReserveList() []string  { return nil }
func (c configMap) Map(caller *token.Identity) (*config.IdentityMapping, error) {
	if caller.CanonicalARN != c.role {
		return nil, errutil.ErrNotMapped
	}
	return &config.IdentityMapping{Username: "system:node:{{EC2PrivateDNSName}}", Groups: nodeGroups}, nil
}

func TestAnAccessEntryComesBeforeTheConfigMap(t *testing.T) {
	entry := &accessEntry{Username: "by-entry", Groups: []string{"readers"}}
	for _, test := range []struct {
		mode, username string
	}{
		{modeAPI, "by-entry"},
		{modeAPIAndConfigMap, "by-entry"},
		{modeConfigMap, "system:node:" + nodeDNS},
	} {
		t.Run(test.mode, func(t *testing.T) {
			account := known{AuthenticationMode: test.mode, AccessEntry: entry, PrivateDNSName: nodeDNS}
			user, err := (&users{account, configMap{role: nodeRole}}).user(t.Context(), nodeToken)
			if err != nil || user.Username != test.username {
				t.Errorf("got %q, %v; want %q", user.Username, err, test.username)
			}
		})
	}
}

// strangers is an account that knows no access key.
type strangers struct{ known }

func (strangers) caller(context.Context, string) (string, error) {
	return "", errors.New("no account has this access key")
}

func TestTheNameOfARoleIsNoToken(t *testing.T) {
	account := known{AuthenticationMode: modeAPIAndConfigMap, PrivateDNSName: nodeDNS}
	for _, test := range []struct {
		account identifier
		token   string
	}{
		{account, nodeSession},
		{strangers{account}, nodeToken},
		{strangers{account}, sessionSeparator + nodeSession},
	} {
		user, err := (&users{test.account, configMap{role: nodeRole}}).user(t.Context(), test.token)
		if err == nil || user.Username != "" {
			t.Errorf("%s: got %+v, %v", test.token, user, err)
		}
	}
}

func TestARoleInAWSAuthIsAUser(t *testing.T) {
	account := known{AuthenticationMode: modeAPIAndConfigMap, PrivateDNSName: nodeDNS}
	user, err := (&users{account, configMap{role: nodeRole}}).user(t.Context(), nodeToken)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(user.Groups, nodeGroups) || user.Extra["canonicalArn"][0] != nodeRole {
		t.Errorf("got %+v", user)
	}
}

func TestACallerWhoIsNotMappedIsToldWhereNot(t *testing.T) {
	for mode, words := range map[string]string{
		modeConfigMap:       nodeRole + " is not in aws-auth",
		modeAPIAndConfigMap: nodeRole + " has no access entry and is not in aws-auth",
		modeAPI:             "does not read aws-auth",
	} {
		t.Run(mode, func(t *testing.T) {
			_, err := (&users{known{AuthenticationMode: mode}, configMap{}}).user(t.Context(), nodeToken)
			if err == nil || !strings.Contains(err.Error(), words) {
				t.Errorf("got %v; want %q", err, words)
			}
		})
	}
}

func TestAMappedRoleWithAPathIsNotTheSessionsRole(t *testing.T) {
	withPath := configMap{role: "arn:aws:iam::123456789012:role/eks/p5-node"}
	_, err := (&users{known{AuthenticationMode: modeConfigMap}, withPath}).user(t.Context(), nodeToken)
	if err == nil {
		t.Error("STS drops the path, so an entry with the path must not match")
	}
}

func TestAnAllowedAccountLetsItsCallersInWithoutGroups(t *testing.T) {
	account := known{AuthenticationMode: modeConfigMap}
	user, err := (&users{account, configMap{account: "123456789012"}}).user(t.Context(), nodeToken)
	if err != nil || user.Username != nodeRole || len(user.Groups) != 0 {
		t.Errorf("got %+v, %v", user, err)
	}
}

func TestAnAccountThatFailsLetsNobodyIn(t *testing.T) {
	_, err := (&users{broken{}, configMap{role: nodeRole}}).user(t.Context(), nodeToken)
	if !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) identity(context.Context, *token.Identity) (answer, error) { return answer{}, errBroken }
func (broken) caller(context.Context, string) (string, error)            { return "", errBroken }
