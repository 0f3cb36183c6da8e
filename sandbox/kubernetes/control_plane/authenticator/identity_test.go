package authenticator

import (
	"strings"
	"testing"

	"sigs.k8s.io/aws-iam-authenticator/pkg/token"
)

func TestTheIdentityOfASessionIsItsRole(t *testing.T) {
	identity, err := parseIdentity(nodeSession)
	if err != nil {
		t.Fatal(err)
	}
	want := token.Identity{
		ARN: nodeSession, CanonicalARN: nodeRole, AccountID: "123456789012", SessionName: "i-0123456789abcdef0",
	}
	if *identity != want {
		t.Errorf("got %+v, want %+v", *identity, want)
	}
}

func TestAUserHasNoSession(t *testing.T) {
	identity, err := parseIdentity("arn:aws:iam::123456789012:user/ada")
	if err != nil || identity.SessionName != "" {
		t.Errorf("got %+v, %v", identity, err)
	}
}

func TestWhatIsNoARNIsRefusedWithoutBeingRepeated(t *testing.T) {
	_, err := parseIdentity("secret-token")
	if err == nil || strings.Contains(err.Error(), "secret-token") {
		t.Errorf("got %v", err)
	}
}

func TestServicesOtherThanSTSAndIAMHaveNoCallers(t *testing.T) {
	if _, err := parseIdentity("arn:aws:s3:::bucket"); err == nil {
		t.Error("a bucket was taken for a caller")
	}
}

func TestTemplatesAreFilled(t *testing.T) {
	identity := &token.Identity{AccountID: "123456789012", SessionName: "i-0123456789abcdef0"}
	got, err := render("{{AccountID}}/{{SessionName}}/{{EC2PrivateDNSName}}", identity, nodeDNS)
	if want := "123456789012/i-0123456789abcdef0/" + nodeDNS; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestASessionNameLosesWhatKubernetesForbids(t *testing.T) {
	identity := &token.Identity{SessionName: "ada@example.com"}
	got, err := render("{{SessionName}} {{SessionNameRaw}}", identity, "")
	if want := "ada-example.com ada@example.com"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestOnlyInstancesHaveADNSName(t *testing.T) {
	for session, words := range map[string]string{
		"ada":                 "not an instance id",
		"i-0123456789abcdef0": "no instance i-0123456789abcdef0",
	} {
		_, err := render("{{EC2PrivateDNSName}}", &token.Identity{SessionName: session}, "")
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: got %v; want %q", session, err, words)
		}
	}
}
