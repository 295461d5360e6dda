package interp

import "golang.org/x/sys/windows"

// readReparse reads the reparse point at path; nil if there is none.
func readReparse(path string) []byte {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil
	}
	const flags = windows.FILE_FLAG_OPEN_REPARSE_POINT | windows.FILE_FLAG_BACKUP_SEMANTICS
	file, err := windows.CreateFile(name, 0, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil, windows.OPEN_EXISTING, flags, 0)
	if err != nil {
		return nil
	}
	defer windows.CloseHandle(file)
	point := make([]byte, windows.MAXIMUM_REPARSE_DATA_BUFFER_SIZE)
	var n uint32
	if err := windows.DeviceIoControl(file, windows.FSCTL_GET_REPARSE_POINT, nil, 0, &point[0], uint32(len(point)), &n, nil); err != nil {
		return nil
	}
	return point[:n]
}
