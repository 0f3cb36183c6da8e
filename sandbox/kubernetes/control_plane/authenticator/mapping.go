package authenticator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	authentication "k8s.io/api/authentication/v1"
	"sigs.k8s.io/aws-iam-authenticator/pkg/config"
	"sigs.k8s.io/aws-iam-authenticator/pkg/errutil"
	"sigs.k8s.io/aws-iam-authenticator/pkg/mapper"
	"sigs.k8s.io/aws-iam-authenticator/pkg/token"
)

// identifier tells what the account knows about a caller; *account in production.
type identifier interface {
	identity(ctx context.Context, caller *token.Identity) (answer, error)
	caller(ctx context.Context, accessKey string) (string, error)
}

// users turns AWS identities into Kubernetes users, in EKS's order: the access entry of the
// principal, then the aws-auth ConfigMap, each only where the cluster's mode has it
// (https://docs.aws.amazon.com/eks/latest/userguide/setting-up-access-entries.html).
type users struct {
	account   identifier
	configMap mapper.Mapper
}

func (u *users) user(ctx context.Context, bearer string) (authentication.UserInfo, error) {
	caller, err := u.caller(ctx, bearer)
	if err != nil {
		return authentication.UserInfo{}, err
	}
	known, err := u.account.identity(ctx, caller)
	if err != nil {
		return authentication.UserInfo{}, err
	}
	mapping, err := u.mapping(caller, known)
	if err != nil {
		return authentication.UserInfo{}, err
	}
	username, groups, err := renderMapping(mapping, caller, known.PrivateDNSName)
	if err != nil {
		return authentication.UserInfo{}, fmt.Errorf("%s is mapped, but its %w", caller.CanonicalARN, err)
	}
	return authentication.UserInfo{
		Username: username,
		Groups:   groups,
		Extra: map[string]authentication.ExtraValue{
			"arn":          {caller.ARN},
			"canonicalArn": {caller.CanonicalARN},
			"sessionName":  {caller.SessionName},
		},
	}, nil
}

// caller tells whose a token is: a presigned URL is its signer's, and the session of a role has an
// access key of the account in front of its ARN, because an ARN alone is no secret.
func (u *users) caller(ctx context.Context, bearer string) (*token.Identity, error) {
	if strings.HasPrefix(bearer, presignedPrefix) {
		accessKey, err := accessKeyOf(bearer, time.Now())
		if err != nil {
			return nil, err
		}
		arn, err := u.account.caller(ctx, accessKey)
		if err != nil {
			return nil, err
		}
		return parseIdentity(arn)
	}
	accessKey, arn, found := strings.Cut(bearer, sessionSeparator)
	if !found {
		return nil, errors.New("the token is neither a presigned URL nor the session of a role")
	}
	if _, err := u.account.caller(ctx, accessKey); err != nil {
		return nil, err
	}
	return parseIdentity(arn)
}

func (u *users) mapping(caller *token.Identity, known answer) (config.IdentityMapping, error) {
	if known.Creator != nil {
		return config.IdentityMapping{Username: known.Creator.Username, Groups: slices.Clone(known.Creator.Groups)}, nil
	}
	if known.hasAccessEntries() && known.AccessEntry != nil {
		groups := slices.Clone(known.AccessEntry.Groups)
		return config.IdentityMapping{Username: known.AccessEntry.Username, Groups: groups}, nil
	}
	if !known.hasConfigMap() {
		return config.IdentityMapping{}, fmt.Errorf(
			"%s has no access entry, and the cluster's authentication mode %s does not read aws-auth",
			caller.CanonicalARN, known.AuthenticationMode)
	}
	mapping, err := u.configMap.Map(caller)
	switch {
	case err == nil:
		return *mapping, nil
	case !errors.Is(err, errutil.ErrNotMapped):
		return config.IdentityMapping{}, fmt.Errorf("aws-auth: %w", err)
	case u.configMap.IsAccountAllowed(caller.AccountID):
		return config.IdentityMapping{Username: caller.CanonicalARN}, nil
	case known.hasAccessEntries():
		return config.IdentityMapping{}, fmt.Errorf("%s has no access entry and is not in aws-auth", caller.CanonicalARN)
	default:
		return config.IdentityMapping{}, fmt.Errorf("%s is not in aws-auth", caller.CanonicalARN)
	}
}
