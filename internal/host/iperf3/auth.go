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

// Credentials is the content of a token.
type Credentials struct {
	User, Password string
	At             time.Time
}

// Encode returns a token encrypted for a server with this key. iperf3 before 3.17 supports only PKCS #1 v1.5
// padding (RFC 8017); later versions use OAEP unless started with --use-pkcs1-padding.
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

// DecodeToken decrypts a token with the server's key and padding.
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

// parseToken splits a token into its fields. iperf3 parses them with scanf, which accepts any white space.
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

// PasswordHash returns the hash that a server's user file has for a user and password.
func PasswordHash(user, password string) string {
	sum := sha256.Sum256([]byte("{" + user + "}" + password))
	return hex.EncodeToString(sum[:])
}
