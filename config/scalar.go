package config

import (
	"cmp"
	"encoding"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

var durationType = reflect.TypeFor[time.Duration]()

// setScalar puts the text of a scalar into v. The error says what is wrong and what would be right.
func setScalar(s string, v reflect.Value) error {
	if v.Type() == durationType {
		return setDuration(s, v)
	}
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(s))
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
		return nil
	case reflect.Bool:
		return setBool(s, v)
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Int16, reflect.Int8:
		return setInt(s, v)
	case reflect.Float64:
		return setFloat(s, v)
	}
	return fmt.Errorf("a value of type %s cannot be configured", v.Type())
}

func setBool(s string, v reflect.Value) error {
	switch s {
	case "true", "false":
		v.SetBool(s == "true")
		return nil
	case "yes", "on", "Yes", "On", "True", "TRUE":
		return fmt.Errorf("%s is not a truth value; write true", s)
	case "no", "off", "No", "Off", "False", "FALSE":
		return fmt.Errorf("%s is not a truth value; write false", s)
	}
	return fmt.Errorf("%s is not a truth value; write true or false", quote(s))
}

// setInt refuses leading zeros: one reader takes 010 for ten, another for eight, and a register is a tank.
func setInt(s string, v reflect.Value) error {
	digits := strings.TrimLeft(s, "+-")
	if len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
		return fmt.Errorf("%s begins with a zero; write %s for the decimal number", quote(s), cmp.Or(strings.TrimLeft(digits, "0"), "0"))
	}
	i, err := strconv.ParseInt(s, 0, 64)
	if err != nil || v.OverflowInt(i) {
		return fmt.Errorf("%s is not a whole number; write one such as 1", quote(s))
	}
	v.SetInt(i)
	return nil
}

func setFloat(s string, v reflect.Value) error {
	f, err := number(s)
	if err != nil {
		return err
	}
	v.SetFloat(f)
	return nil
}

// number reads a finite decimal number.
func number(s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
		return f, nil
	}
	if dotted := strings.Replace(s, ",", ".", 1); dotted != s {
		if _, err := strconv.ParseFloat(dotted, 64); err == nil {
			return 0, fmt.Errorf("%s has a comma; write %s", quote(s), dotted)
		}
	}
	return 0, fmt.Errorf("%s is not a number; write one such as 0.5", quote(s))
}

func setDuration(s string, v reflect.Value) error {
	dur, err := time.ParseDuration(s)
	switch {
	case err == nil && dur < 0:
		return fmt.Errorf("%s is negative; write a duration such as 5s, 30m or 24h", s)
	case err == nil && (s == "0" || dur != 0 || strings.ContainsAny(s, "hmsnuµ")):
		v.SetInt(int64(dur))
		return nil
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return fmt.Errorf("%s has no unit; write %ss, %sm or %sh", quote(s), s, s, s)
	}
	if days, err := strconv.Atoi(strings.TrimSuffix(s, "d")); err == nil && days >= 0 && days < 1e5 {
		return fmt.Errorf("%s: days are no unit; write %dh", quote(s), days*24)
	}
	return fmt.Errorf("%s is not a duration; write one such as 5s, 30m or 24h", quote(s))
}

// typeWords names what a type takes, for a message.
func typeWords(t reflect.Type) string {
	switch {
	case t == durationType:
		return "a duration such as 5s"
	case t.Kind() == reflect.String:
		return "a text"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Float64, t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		return "a number"
	}
	return "one value"
}

// quote is a value as it stands in a message: in quotes, and cut when long.
func quote(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "..."
	}
	return strconv.Quote(s)
}

// shortDuration is a duration without the zeros at its end: 45m, not 45m0s.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
