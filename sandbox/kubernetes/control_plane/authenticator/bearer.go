package authenticator

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// What a token of EKS looks like: aws-iam-authenticator, pkg/token/token.go, v1Prefix,
// clusterIDHeader and presignedURLExpiration.
const (
	presignedPrefix   = "k8s-aws-v1."
	clusterHeader     = "x-k8s-aws-id"
	presignedLifetime = 15 * time.Minute
	presignedDate     = "20060102T150405Z"
)

// sessionSeparator stands between an access key of the account and the ARN of a session, in the
// token of a node of the sandbox.
const sessionSeparator = "@"

// accessKeyOf returns the access key id of whoever signed a presigned URL of
// sts:GetCallerIdentity, which is what `aws eks get-token` gives.
//
// The real authenticator sends the URL to STS, which checks the signature. In the sandbox the id of an
// access key is a secret (sandbox/access.py), so the account must know it, and nothing else is checked.
func accessKeyOf(bearer string, now time.Time) (string, error) {
	content, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(bearer, presignedPrefix))
	if err != nil {
		return "", fmt.Errorf("the token is not base64 after %s", presignedPrefix)
	}
	signed, err := url.Parse(string(content))
	if err != nil {
		return "", fmt.Errorf("the token is not a URL after %s", presignedPrefix)
	}
	query := signed.Query()
	if query.Get("Action") != "GetCallerIdentity" {
		return "", fmt.Errorf("the token is not a presigned call of sts:GetCallerIdentity")
	}
	if !strings.Contains(";"+strings.ToLower(query.Get("X-Amz-SignedHeaders"))+";", ";"+clusterHeader+";") {
		return "", fmt.Errorf("the token was signed without the header %s", clusterHeader)
	}
	signedAt, err := time.Parse(presignedDate, query.Get("X-Amz-Date"))
	if err != nil {
		return "", fmt.Errorf("the token's X-Amz-Date is no time")
	}
	if now.After(signedAt.Add(presignedLifetime)) {
		return "", fmt.Errorf("the token was signed at %s and has expired", signedAt.Format(time.RFC3339))
	}
	key, _, _ := strings.Cut(query.Get("X-Amz-Credential"), "/")
	if key == "" {
		return "", fmt.Errorf("the token's X-Amz-Credential names no access key")
	}
	return key, nil
}
