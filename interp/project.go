package interp

import (
	"os"
	"path/filepath"
	"slices"
)

// owner says who may change a file or what is in a directory.
type owner struct {
	uid            int
	device         uint64
	shared, sticky bool // everybody may write to it; in a sticky directory only to one's own files
}

// markers are files and directories that the root of a project has.
var markers = []string{
	"pyproject.toml", ".git", "pyplug.toml", "requirements.txt", "uv.lock", "poetry.lock", "Pipfile", "pdm.lock", "pixi.toml",
	"hatch.toml", "setup.cfg", "setup.py", "pylock.toml", ".python-envs", ".hg", ".jj",
}

// mostLevels bounds how far a project's root is searched upwards.
const mostLevels = 32

// above is dir and the directories above it in which something may be trusted as much as
// in dir: not the home directory, another file system, nor what is another user's or
// writable for everybody, as /tmp is.
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
		case i+2 > mostLevels, !ok, !known, err != nil, home != nil && os.SameFile(home, info),
			o.device != own.device, !f.trusts(o.uid, own.uid), o.shared:
			return dirs[:i+1]
		}
	}
	return dirs
}

// trusts reports whether uid is this user, root, or who owns what is run anyway.
func (f *finder) trusts(uid, own int) bool {
	return uid == own || uid == 0 || uid == f.uid
}

// IsWorkspace reports whether dir is the root of a workspace of uv, whose projects have one
// lock file and one environment.
func IsWorkspace(dir string) bool {
	var p struct {
		Tool struct{ UV struct{ Workspace any } }
	}
	readTOML(filepath.Join(dir, "pyproject.toml"), &p)
	return p.Tool.UV.Workspace != nil
}

// isRoot reports whether dir has what the root of a project has.
func isRoot(dir string) bool {
	return slices.ContainsFunc(markers, func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	})
}

// noteAbove records the environments of a project that are not searched for, because others may
// change a directory on the way to its root.
func (f *finder) noteAbove() {
	for _, dir := range f.Dirs {
		levels := f.above(dir)
		above := parents(dir)[len(levels):]
		if len(above) == 0 || slices.ContainsFunc(levels, isRoot) {
			continue
		}
		own, _ := f.ownerOf(dir)
		o, ok := f.ownerOf(above[0])
		code, whose := WorldWritable, ", which everybody may write to"
		if !o.shared {
			code, whose = UntrustedOwner, ", which belongs to another user"
		}
		if !ok || !o.shared && f.trusts(o.uid, own.uid) {
			continue
		}
		for _, level := range above[:slices.IndexFunc(above, isRoot)+1] {
			if env := filepath.Join(level, ".venv"); exists(filepath.Join(env, "pyvenv.cfg")) {
				f.skip(code, env, ".venv of the project", "is not looked for in or above "+above[0]+whose)
			}
		}
	}
}

// root is the root of the project, or of the workspace, that dir belongs to; dir if it
// belongs to none.
func (f *finder) root(dir string) string {
	if root, ok := f.Project.roots[dir]; ok {
		return root
	}
	if root, ok := f.roots[dir]; ok {
		return root
	}
	root := dir
	levels := f.above(dir)
	if i := slices.IndexFunc(levels, isRoot); i >= 0 {
		levels = levels[i:]
		root = levels[max(0, slices.IndexFunc(levels, IsWorkspace))]
	}
	f.roots[dir] = root
	return root
}

// levels are the directories in which the plugin's own environment is searched: those
// beside the plugin, then those up to the root of its project.
func (f *finder) levels(yield func(dir string, beside bool) bool) {
	for _, dir := range f.Dirs {
		if !yield(dir, true) {
			return
		}
	}
	for _, dir := range f.upwards() {
		if !yield(dir, false) {
			return
		}
	}
}

// Project is where the files of a plugin's project are. [FindProject] finds it.
type Project struct {
	// Dirs are the directories beside the plugin, then those above them up to the root of
	// the project.
	Dirs  []string
	roots map[string]string // by the directories beside the plugin
}

// FindProject finds the project of a plugin by the directories beside it and the caller's
// environment.
func FindProject(beside, environ []string) Project {
	f := newFinder(Request{Dirs: beside, Environ: environ})
	p := Project{roots: f.roots}
	for dir := range f.levels {
		p.Dirs = append(p.Dirs, dir)
	}
	return p
}

// upwards are the directories above those beside the plugin, up to the project's root.
func (f *finder) upwards() (dirs []string) {
	for _, dir := range f.Dirs {
		root := f.root(dir)
		for _, level := range parents(dir) {
			if !slices.Contains(dirs, level) && !slices.Contains(f.Dirs, level) && within(root, level) {
				dirs = append(dirs, level)
			}
		}
	}
	return dirs
}

// distrust returns why an environment that was found without being named may not be
// used: who may change it is neither this user, root, nor who may change the plugin. It
// looks at the environment, its programs, and the directories between it and the project.
// Where links of the environment lead was decided by its owner: the Pythons of a
// computing centre are another user's, those of a CI machine often writable for everybody.
func (f *finder) distrust(env string) *Error {
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
		var broken *Error
		o, ok := f.ownerOf(path)
		switch {
		case !ok:
			continue
		case !f.trusts(o.uid, own.uid):
			broken = problem(UntrustedOwner, path, "belongs to another user, %d, and not to you, root or the plugin's owner", o.uid)
		case o.shared && !o.sticky && !own.shared:
			broken = problem(WorldWritable, path, "is writable for everybody, which the plugin is not")
		default:
			continue
		}
		broken.env = env
		return broken
	}
	return nil
}

// between are the directories above env that are in the plugin's directory, or in its
// project and not above the plugin: those that the search upwards did not look at.
func (f *finder) between(env string) (dirs []string) {
	for _, level := range parents(env)[1:] {
		if slices.ContainsFunc(f.Dirs, func(dir string) bool { return level != dir && within(f.root(dir), level) && !within(level, dir) }) {
			dirs = append(dirs, level)
		}
	}
	return dirs
}
