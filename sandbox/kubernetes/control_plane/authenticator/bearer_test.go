package authenticator

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"
	"time"
)

const (
	creator   = "arn:aws:iam::123456789012:user/moto"
	signedURL = "http://127.0.0.1:5000/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Algorithm=AWS4-HMAC-SHA256" +
		"&X-Amz-Credential=sandbox%2F20261121%2Fus-west-2%2Fsts%2Faws4_request&X-Amz-Date=20261121T120000Z" +
		"&X-Amz-Expires=60&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id&X-Amz-Signature=00"
)

var signedAt = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func presigned(text string) string {
	return presignedPrefix + base64.RawURLEncoding.EncodeToString([]byte(text))
}

func TestAPresignedTokenNamesItsAccessKey(t *testing.T) {
	key, err := accessKeyOf(presigned(signedURL), signedAt.Add(14*time.Minute))
	if err != nil || key != "sandbox" {
		t.Errorf("got %q, %v", key, err)
	}
}

func TestAPresignedTokenOfAnotherFormIsRefused(t *testing.T) {
	for words, token := range map[string]string{
		"not base64":              presignedPrefix + "%%%",
		"sts:GetCallerIdentity":   presigned(strings.Replace(signedURL, "GetCallerIdentity", "AssumeRole", 1)),
		"the header x-k8s-aws-id": presigned(strings.Replace(signedURL, "%3Bx-k8s-aws-id", "", 1)),
		"X-Amz-Date is no time":   presigned(strings.Replace(signedURL, "20261121T120000Z", "today", 1)),
		"names no access key":     presigned(strings.Replace(signedURL, "sandbox%2F", "%2F", 1)),
		"has expired":             presigned(strings.Replace(signedURL, "20261121T12", "20261121T11", 1)),
	} {
		t.Run(words, func(t *testing.T) {
			if _, err := accessKeyOf(token, signedAt.Add(time.Minute)); err == nil || !strings.Contains(err.Error(), words) {
				t.Errorf("got %v; want %q", err, words)
			}
		})
	}
}

// signedNow is an account whose every access key is the creator's.
type signedNow struct{ known }

func (signedNow) caller(context.Context, string) (string, error) { return creator, nil }

func TestTheCreatorOfAClusterIsItsAdministratorInEveryMode(t *testing.T) {
	token := presigned(strings.Replace(signedURL, "20261121T120000Z", time.Now().UTC().Format(presignedDate), 1))
	for _, mode := range []string{modeConfigMap, modeAPIAndConfigMap, modeAPI} {
		account := signedNow{known{
			AuthenticationMode: mode, Creator: &accessEntry{Username: "kubernetes-admin", Groups: []string{"system:masters"}},
		}}
		user, err := (&users{account, configMap{}}).user(t.Context(), token)
		if err != nil || user.Username != "kubernetes-admin" || user.Groups[0] != "system:masters" {
			t.Errorf("%s: got %+v, %v", mode, user, err)
		}
	}
}
