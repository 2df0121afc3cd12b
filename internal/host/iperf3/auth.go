package iperf3

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1" // nothing is signed: OAEP needs no collision resistance
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Credentials are what a token says.
type Credentials struct {
	User, Password string
	At             time.Time
}

// Encode makes the token for a server with this key. iperf3 before 3.17 knows padding by
// PKCS #1 v1.5 alone (RFC 8017); newer ones use OAEP unless they have the option
// --use-pkcs1-padding.
func (c Credentials) Encode(key *rsa.PublicKey, pkcs1 bool) (string, error) {
	if strings.ContainsAny(c.User+c.Password, " \t\r\n\v\f\x00") || c.User == "" || c.Password == "" {
		return "", errors.New("user and password for an iperf3 server: expected both, and no blanks in them")
	}
	text := fmt.Appendf(nil, "user: %s\npwd:  %s\nts:   %d", c.User, c.Password, c.At.Unix())
	var sealed []byte
	var err error
	if pkcs1 {
		//lint:ignore SA1019 servers before 3.17 understand nothing else
		sealed, err = rsa.EncryptPKCS1v15(rand.Reader, key, text)
	} else {
		sealed, err = rsa.EncryptOAEP(sha1.New(), rand.Reader, key, text, nil)
	}
	if err != nil {
		return "", fmt.Errorf("encrypting an iperf3 token with a key of %d bits: %w", key.N.BitLen(), err)
	}
	return base64.StdEncoding.EncodeToString(sealed), nil
}

// DecodeToken reads a token with the server's key and padding.
func DecodeToken(token string, key *rsa.PrivateKey, pkcs1 bool) (Credentials, error) {
	sealed, err := base64.StdEncoding.DecodeString(token)
	if err != nil || len(sealed) == 0 {
		return Credentials{}, errors.New("the token is not base64")
	}
	var text []byte
	if pkcs1 {
		//lint:ignore SA1019 clients before 3.17 can do nothing else; it has to be switched on
		text, err = rsa.DecryptPKCS1v15(nil, key, sealed)
	} else {
		text, err = rsa.DecryptOAEP(sha1.New(), nil, key, sealed, nil)
	}
	if err != nil {
		return Credentials{}, errors.New("the token is not encrypted with this server's key and padding")
	}
	return parseToken(string(text))
}

// parseToken takes a token's words apart. iperf3 reads them with scanf, to which
// any blanks are alike.
func parseToken(text string) (Credentials, error) {
	words := strings.Fields(text)
	if len(words) != 6 || words[0] != "user:" || words[2] != "pwd:" || words[4] != "ts:" {
		return Credentials{}, errors.New("the token does not say user, password and time")
	}
	var seconds int64
	if _, err := fmt.Sscanf(words[5], "%d", &seconds); err != nil {
		return Credentials{}, errors.New("the token's time is not a number")
	}
	return Credentials{User: words[1], Password: words[3], At: time.Unix(seconds, 0)}, nil
}

// PasswordHash is what a server's file of users has beside a name.
func PasswordHash(user, password string) string {
	sum := sha256.Sum256([]byte("{" + user + "}" + password))
	return hex.EncodeToString(sum[:])
}
