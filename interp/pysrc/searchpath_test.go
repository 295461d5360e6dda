package pysrc_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/interp/pysrc"
)

func TestSearchPath(t *testing.T) {
	for code, want := range map[string]string{
		"sys.path.append(os.path.join(os.path.dirname(__file__), '..', 'gen'))":                                   "/srv/gen",
		"sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + '/../gen')":                              "/srv/gen",
		"sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'gen' / \"python\"))":                    "/srv/gen/python",
		"sys.path.append(str(pathlib.Path(__file__).parents[1].joinpath('gen')))":                                 "/srv/gen",
		"HERE: Path = Path(__file__).parent\nsys.path.append(str(HERE.parent / 'gen'))":                           "/srv/gen",
		"here = os.path.dirname(__file__)\nsys.path.append(os.path.join(here, os.pardir, 'gen'))":                 "/srv/gen",
		"sys.path.append(os.path.realpath(os.path.join(os.path.dirname(os.path.dirname(__file__)),\n    'gen')))": "/srv/gen",
		"sys.path.extend([str(Path(__file__).parent / 'a'), str(Path(__file__).parent / 'b')])":                   "/srv/plug/a /srv/plug/b",
		"sys.path[:0] = [os.path.dirname(__file__) + '/a']":                                                       "/srv/plug/a",
		"sys.path += [os.path.dirname(__file__) + '/a']":                                                          "/srv/plug/a",
		"site.addsitedir((Path(__file__).parent / 'a').as_posix())":                                               "/srv/plug/a",
		"if x: sys.path.append(f'{os.path.dirname(__file__)}/a')":                                                 "",
		"sys.path.append('gen'); __file__":                                                                        "",
		"sys.path.append(os.path.join(os.getcwd(), 'gen'), __file__)":                                             "",
		"# sys.path.append(os.path.dirname(__file__))":                                                            "",
		"sys.path.append(" + strings.Repeat("(", 100) + "__file__":                                                "",
	} {
		got := pysrc.Parse("/srv/plug/main.py", code).SearchPath()
		for i := range got {
			got[i] = filepath.ToSlash(got[i])
		}
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s\ngot %q, want %q", code, got, want)
		}
	}
}

func FuzzSearchPath(f *testing.F) {
	f.Add("sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'gen'))")
	f.Fuzz(func(t *testing.T, code string) {
		for _, dir := range pysrc.Parse("/srv/plug/main.py", "__file__\n"+code).SearchPath() {
			if !filepath.IsAbs(dir) {
				t.Errorf("got %q", dir)
			}
		}
	})
}
