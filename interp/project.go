package interp

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/pyplug/pyplug/interp/bounded"
)

// owner describes who can modify a file, or the files in a directory.
type owner struct {
	uid            int
	device         uint64
	shared, sticky bool // everybody can write to it; in a sticky directory, users can change only their own files
}

// markers lists the files and directories that mark the root of a project.
var markers = []string{
	"pyproject.toml", ".git", "pyplug.toml", "requirements.txt", "uv.lock", "poetry.lock", "Pipfile", "pdm.lock", "pixi.toml",
	"hatch.toml", "setup.cfg", "setup.py", "pylock.toml", ".hg", ".jj",
}

// maxLevels bounds how many levels up the root of a project may be.
const maxLevels = 32

// above returns dir and the directories above it that are as trustworthy as dir. It ends at the
// home directory, at another file system, and at a directory that belongs to another user or is
// writable for everybody, such as /tmp.
func (f *finder) above(dir string) []string {
	dirs := parents(dir)
	if len(dirs) == 0 {
		return nil
	}
	own, ok := f.ownerOf(dir)
	home, _ := os.Stat(f.home())
	for i, level := range dirs[1:] {
		o, known := f.ownerOf(level)
		info, err := os.Stat(level)
		switch {
		case i+2 > maxLevels, !ok, !known, err != nil, home != nil && os.SameFile(home, info),
			o.device != own.device, !f.trusts(o.uid, own.uid), o.shared:
			return dirs[:i+1]
		}
	}
	return dirs
}

// trusts reports whether uid is this user, root, or the plugin's owner.
func (f *finder) trusts(uid, own int) bool {
	return uid == own || uid == 0 || uid == f.uid
}

// IsWorkspace reports whether dir is the root of a workspace of uv. Its projects share a lock
// file and an environment.
func IsWorkspace(dir string) bool {
	var p struct {
		Tool struct{ UV struct{ Workspace any } }
	}
	readTOML(filepath.Join(dir, "pyproject.toml"), &p)
	return p.Tool.UV.Workspace != nil
}

// isRoot reports whether dir contains a marker.
func isRoot(dir string) bool {
	return slices.ContainsFunc(markers, func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	})
}

// root returns the root of the project or workspace of dir, or dir if it belongs to none.
func (f *finder) root(dir string) string {
	levels := f.above(dir)
	i := slices.IndexFunc(levels, isRoot)
	if i < 0 {
		return dir
	}
	return levels[i:][max(0, slices.IndexFunc(levels[i:], IsWorkspace))]
}

// Project lists the directories of a plugin's project. [FindProject] finds it.
type Project struct {
	// Dirs are the directories of the plugin, then those above them up to the root of the project.
	Dirs  []string
	roots map[string]string // plugin directory → root of its project
}

// FindProject finds the project of a plugin from the plugin's directories, as in [Request], and the
// caller's environment.
func FindProject(dirs, environ []string) Project {
	return newFinder(Request{Dirs: dirs, Environ: environ}).Project
}

// project finds the project of the plugin's directories.
func (f *finder) project() Project {
	p := Project{Dirs: slices.Clone(f.Dirs), roots: map[string]string{}}
	for _, dir := range f.Dirs {
		p.roots[dir] = f.root(dir)
		for _, level := range parents(dir) {
			if !slices.Contains(p.Dirs, level) && within(p.roots[dir], level) {
				p.Dirs = append(p.Dirs, level)
			}
		}
	}
	return p
}

// Src returns the directory src of the project, which may not exist, or "" without a project.
// Projects keep their packages there, and Python imports an installed project from there.
func (p Project) Src() string {
	for _, dir := range p.Dirs {
		if bounded.Exists(filepath.Join(dir, "pyproject.toml")) {
			return filepath.Join(dir, "src")
		}
	}
	return ""
}

// distrust returns an attempt if untrusted users can modify an environment that nobody named.
// Otherwise it returns nil. Trusted users are this user, root and the plugin's owner. If everybody
// can modify the plugin, everybody is trusted. distrust checks the environment, its programs, and
// the directories between it and the project. It does not check the targets of the environment's
// links, because the environment's owner chose them: the Pythons of a computing center belong to
// another user.
func (f *finder) distrust(env string) *Attempt {
	var own owner
	if len(f.Dirs) > 0 {
		own, _ = f.ownerOf(f.Dirs[0])
	}
	paths := append(f.between(env), env, filepath.Join(env, "pyvenv.cfg"))
	if python, none := envPython(env); none == nil {
		paths = append(paths, filepath.Dir(python))
		if info, err := os.Lstat(python); err == nil && info.Mode().IsRegular() {
			paths = append(paths, python)
		}
	}
	for _, path := range paths {
		o, ok := f.ownerOf(path)
		switch {
		case !ok:
		case !f.trusts(o.uid, own.uid):
			const reason = "belongs to user %d, expected you, root or the plugin's owner"
			return problem(UntrustedOwner, path, reason, o.uid).in(env)
		case o.shared && !o.sticky && !own.shared:
			return problem(WorldWritable, path, "is writable for everybody, which the plugin is not").in(env)
		}
	}
	return nil
}

// between returns the directories above env that are in the project but not above the plugin. The
// upward search did not check these.
func (f *finder) between(env string) (dirs []string) {
	for _, level := range parents(env)[1:] {
		if slices.ContainsFunc(f.Dirs, func(dir string) bool {
			return level != dir && within(f.Project.roots[dir], level) && !within(level, dir)
		}) {
			dirs = append(dirs, level)
		}
	}
	return dirs
}
