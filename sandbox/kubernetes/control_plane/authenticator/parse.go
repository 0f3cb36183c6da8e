package authenticator

import (
	"encoding/json"
	"fmt"
	"io"

	"sigs.k8s.io/aws-iam-authenticator/pkg/config"
	"sigs.k8s.io/aws-iam-authenticator/pkg/mapper/configmap"
)

// parsedMap is what the authenticator takes from the data of an aws-auth ConfigMap.
type parsedMap struct {
	Roles    []config.RoleMapping `json:"roles"`
	Users    []config.UserMapping `json:"users"`
	Accounts []string             `json:"accounts"`
	// Error names the parts that were refused; the authenticator goes on with the others.
	Error string `json:"error,omitempty"`
}

// parse reads the `data` of an aws-auth ConfigMap as a JSON object from in, and writes to out
// what the real mapper makes of it. It lets tests of anything that edits the ConfigMap ask
// the parser that decides in the end.
func parse(in io.Reader, out io.Writer) error {
	var data map[string]string
	if err := json.NewDecoder(in).Decode(&data); err != nil {
		return fmt.Errorf("standard input is not the data of a ConfigMap as JSON: %w", err)
	}
	users, roles, accounts, err := configmap.ParseMap(data)
	parsed := parsedMap{Roles: roles, Users: users, Accounts: accounts}
	if err != nil {
		parsed.Error = err.Error()
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(parsed)
}
