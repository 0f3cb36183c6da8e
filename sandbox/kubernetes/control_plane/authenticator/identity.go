package authenticator

import (
	"fmt"
	"regexp"
	"strings"

	awsarn "github.com/aws/aws-sdk-go-v2/aws/arn"
	"sigs.k8s.io/aws-iam-authenticator/pkg/arn"
	"sigs.k8s.io/aws-iam-authenticator/pkg/config"
	"sigs.k8s.io/aws-iam-authenticator/pkg/token"
)

// instanceID is the session name of an EC2 instance role, as the real authenticator checks it
// (aws-iam-authenticator, pkg/server/server.go).
var instanceID = regexp.MustCompile(`^i-(\w{8}|\w{17})$`)

// parseIdentity reads the caller from a bearer token.
//
// On EKS the token is a presigned URL of sts:GetCallerIdentity, and the ARN is what STS answers;
// accessKeyOf reads such tokens. The sandbox's nodes sign nothing: their token is that ARN itself.
// Everything after it is the real authenticator's code.
func parseIdentity(bearer string) (*token.Identity, error) {
	parsed, err := awsarn.Parse(bearer)
	if err != nil {
		// The token is not repeated: it may be somebody's secret that reached us by mistake.
		return nil, fmt.Errorf("the token is not the ARN of an STS or IAM identity, which is what the sandbox takes for one")
	}
	kind, canonical, err := arn.Canonicalize(bearer)
	if err != nil {
		return nil, err
	}
	identity := &token.Identity{ARN: bearer, CanonicalARN: canonical, AccountID: parsed.AccountID}
	if kind == arn.ASSUMED_ROLE {
		identity.SessionName = bearer[strings.LastIndex(bearer, "/")+1:]
	}
	return identity, nil
}

// renderMapping fills the templates in the user name and the groups of a mapping.
//
// privateDNSName is the instance's, or empty where the session is not an instance's.
func renderMapping(mapping config.IdentityMapping, identity *token.Identity, privateDNSName string) (string, []string, error) {
	username, err := render(mapping.Username, identity, privateDNSName)
	if err != nil {
		return "", nil, fmt.Errorf("user name %q: %w", mapping.Username, err)
	}
	groups := make([]string, 0, len(mapping.Groups))
	for _, pattern := range mapping.Groups {
		group, err := render(pattern, identity, privateDNSName)
		if err != nil {
			return "", nil, fmt.Errorf("group %q: %w", pattern, err)
		}
		groups = append(groups, group)
	}
	return username, groups, nil
}

// render fills one template. The placeholders and their rules are those of renderTemplate in
// aws-iam-authenticator's pkg/server, which is not exported.
func render(template string, identity *token.Identity, privateDNSName string) (string, error) {
	const dnsPlaceholder = "{{EC2PrivateDNSName}}"
	if strings.Contains(template, dnsPlaceholder) {
		if !instanceID.MatchString(identity.SessionName) {
			return "", fmt.Errorf("the session name %q is not an instance id", identity.SessionName)
		}
		if privateDNSName == "" {
			return "", fmt.Errorf("the account has no instance %s", identity.SessionName)
		}
		template = strings.ReplaceAll(template, dnsPlaceholder, privateDNSName)
	}
	return strings.NewReplacer(
		"{{AccountID}}", identity.AccountID,
		"{{SessionName}}", strings.ReplaceAll(identity.SessionName, "@", "-"),
		"{{SessionNameRaw}}", identity.SessionName,
	).Replace(template), nil
}
