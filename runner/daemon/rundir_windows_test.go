package daemon

import (
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/pyplug/pyplug/runner/hook"
)

// TestAccess checks that only a directory that no other user can read or change is accepted.
func TestAccess(t *testing.T) {
	user, err := thisUser()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ access, want string }{
		"this user":  {"D:P(A;OICI;FA;;;" + user.String() + ")", ""},
		"the system": {"D:P(A;OICI;FA;;;" + user.String() + ")(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)", ""},
		"everyone":   {"D:P(A;OICI;FA;;;" + user.String() + ")(A;OICI;FA;;;WD)", "gives access to "},
		"a reader":   {"D:P(A;OICI;FA;;;" + user.String() + ")(A;OICI;FR;;;WD)", "gives access to "},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			access, err := windows.SecurityDescriptorFromString(c.access)
			if err != nil {
				t.Fatal(err)
			}
			attributes := windows.SecurityAttributes{SecurityDescriptor: access}
			attributes.Length = uint32(unsafe.Sizeof(attributes))
			if err := windows.CreateDirectory(windows.StringToUTF16Ptr(dir), &attributes); err != nil {
				t.Fatal(err)
			}
			switch err := checkDir(dir); {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || kindOf(t, err) != hook.Unavailable):
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// TestCreateDir checks that a new run directory is for this user alone, and that the root directory
// is rejected.
func TestCreateDir(t *testing.T) {
	dir := runDir(t)
	if err := makeDir(dir); err != nil {
		t.Fatal(err)
	}
	wantPrivate(t, dir)
	if err := checkDir(filepath.VolumeName(dir) + `\`); err == nil {
		t.Error("the root directory is accepted")
	}
}

// wantPrivate checks that only this user can read and write a file, which may be a socket.
func wantPrivate(t *testing.T, path string) {
	t.Helper()
	f, err := windows.CreateFile(windows.StringToUTF16Ptr(path), windows.READ_CONTROL, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
		nil, windows.OPEN_EXISTING, windows.FILE_FLAG_OPEN_REPARSE_POINT|windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer func() { _ = windows.CloseHandle(f) }()
	access, err := windows.GetSecurityInfo(f, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if _, err := judge(access); err != nil {
		t.Errorf("%s %v: %v", path, err, access)
	}
}
