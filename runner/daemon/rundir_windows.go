package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

// usualRunDirs returns the run directory if PYPLUG_RUN_DIR is not set. It is not in pyplug's cache,
// because people may remove that.
func usualRunDirs() []string {
	return []string{filepath.Join(os.Getenv("LOCALAPPDATA"), "pyplug-run")}
}

// stateDirs returns nothing: the run directory outlives a reboot.
func stateDirs() []string { return nil }

// createDir creates a directory for this user alone. Its files, such as sockets, inherit the access
// list.
func createDir(dir string) error {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return err
	}
	user, err := thisUser()
	if err != nil {
		return err
	}
	access, err := windows.SecurityDescriptorFromString(fmt.Sprintf("O:%[1]vD:P(A;OICI;FA;;;%[1]v)", user))
	if err != nil {
		return err
	}
	own := windows.SecurityAttributes{SecurityDescriptor: access}
	own.Length = uint32(unsafe.Sizeof(own))
	return windows.CreateDirectory(path, &own)
}

// checkAccess rejects a directory that belongs to another user or gives another user any access.
// The system and administrators may have access, because they can take it anyway.
func checkAccess(dir string, _ fs.FileInfo) (hint string, err error) {
	access, err := windows.GetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return "", fmt.Errorf("has no readable access list: %w", err)
	}
	return judge(access)
}

// judge checks the owner and the access list of a directory for [checkAccess].
func judge(access *windows.SECURITY_DESCRIPTOR) (hint string, err error) {
	user, err := thisUser()
	if err != nil {
		return "", err
	}
	trusted := func(sid *windows.SID) bool {
		return sid.Equals(user) || sid.IsWellKnown(windows.WinLocalSystemSid) || sid.IsWellKnown(windows.WinBuiltinAdministratorsSid)
	}
	if owner, _, err := access.Owner(); err != nil || !trusted(owner) {
		return "", fmt.Errorf("belongs to %s, %w", account(owner), errNotOurs)
	}
	list, _, err := access.DACL()
	if err != nil || list == nil {
		return "", errors.New("has no access list, so every user can change it")
	}
	for i := range list.AceCount {
		var entry *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(list, uint32(i), &entry); err != nil {
			return "", err
		}
		sid := (*windows.SID)(unsafe.Pointer(&entry.SidStart))
		if entry.Header.AceType != windows.ACCESS_DENIED_ACE_TYPE && !trusted(sid) {
			return "set PYPLUG_RUN_DIR to a directory that does not exist: pyplug creates it for this user alone",
				fmt.Errorf("gives access to %s, expected this user alone", account(sid))
		}
	}
	return "", nil
}

func thisUser() (*windows.SID, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, err
	}
	return user.User.Sid, nil
}

// account returns the name of a user or group.
func account(sid *windows.SID) string {
	name, domain, _, err := sid.LookupAccount("")
	if err != nil {
		return sid.String()
	}
	return strings.TrimPrefix(domain+`\`+name, `\`) // Everyone has no domain
}
