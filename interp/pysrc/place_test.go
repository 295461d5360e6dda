package pysrc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlace checks which of the three kinds of places a file has, given its text and the files
// around it. A place is written as its name and the directories that are searched first, after the
// standard library and last.
func TestPlace(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) {
		path := filepath.Join(base, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("site/grpc/__init__.py", "")
	installed := func() []string { return []string{filepath.Join(base, "site"), filepath.Join(base, "linked")} }
	for _, c := range []struct {
		name, files, entry, text string // files are separated by spaces; "=" precedes a text
		want                     string
	}{
		{"in no package", "plain/helper.py", "plain/plug.py", "import helper, os\n", " plain - -"},
		{"a script in a package", "pkg/__init__.py pkg/typing.py", "pkg/tool.py", "import typing, json\n", " - pkg ."},
		{"a relative import", "rel/__init__.py rel/part.py", "rel/mod.py", "def f():\n    from . import part\n", "rel.mod . - rel"},
		{"a relative import in a text", "relt/__init__.py", "relt/mod.py", "'''\nfrom . import part\n'''\n# from . import part\n", " - relt ."},
		{"it names __package__", "named/__init__.py", "named/mod.py", "print(__package__)\n", "named.mod . - named"},
		{"by its package's name, a module", "own/__init__.py own/part.py", "own/mod.py", "from own.part import x\n", "own.mod . - own"},
		{"by its package's name, a directory", "owns/__init__.py owns/data/x.py", "owns/mod.py", "import owns.data.x\n", "owns.mod . - owns"},
		{"by its package's name, a name of it", "app/__init__.py=db=Database()", "app/models.py", "from app import db\n", "app.models . - app"},
		{"by its package's name, an attribute", "apps/__init__.py=db=Database()", "apps/models.py", "import apps\nx = apps.db\n", "apps.models . - apps"},
		{"a library of its own name", "work/__init__.py", "work/celery.py", "from celery import Celery\n", "work.celery . - work"},
		{"a library of its package's name", "examples/pydantic/__init__.py", "examples/pydantic/tasks.py",
			"from pydantic import BaseModel\nfrom pydantic.types import x\n", " - examples/pydantic examples"},
		{"deep", "outer/__init__.py outer/inner/__init__.py outer/part.py", "outer/inner/mod.py", "from ..part import x\n", "outer.inner.mod . - outer/inner"},
		{"by an inner package's name", "repo/__init__.py repo/web/__init__.py repo/web/models.py", "repo/web/main.py", "from web.models import x\n", " - repo/web ."},

		{"by an inner package's name, which Python has, too", "lib/__init__.py lib/distutils/__init__.py lib/distutils/log.py", "lib/distutils/fc.py",
			"from distutils.log import x\n", " - lib/distutils ."},
		{"a package", "whole/__init__.py", "whole", "", "whole . - whole"},
		{"its __init__.py", "", "whole/__init__.py", "", "whole . - whole"},
		{"a package in packages", "o/__init__.py o/i/__init__.py o/i/most/__init__.py", "o/i/most", "", "o.i.most . - o/i/most"},
		{"below a name that cannot be imported", "v1.2/__init__.py v1.2/p/__init__.py", "v1.2/p", "", "p v1.2 - v1.2/p"},
		{"its __main__.py", "", "whole/__main__.py", "from . import x\n", "whole.__main__ . - whole"},
		{"a __main__.py that prepares for both", "", "whole/__main__.py", "if not __package__:\n    import sys\n", "whole.__main__ . - whole"},
		{"a __main__.py that is a script", "", "whole/__main__.py", "import sys\n", " - whole ."},
		{"a __main__.py in no package", "dir/x.py", "dir/__main__.py", "import x\n", " dir - -"},

		{"conftest.py", "proj/tests/__init__.py proj/tests/helpers.py", "proj/tests/conftest.py", "import pytest\nfrom tests.helpers import x\n", "tests.conftest proj - proj/tests"},
		{"conftest.py in no package", "proj2/tests/helpers.py", "proj2/tests/conftest.py", "import pytest\nfrom helpers import x\n", " proj2/tests - -"},
		{"a test of a package beside", "proj3/tests/__init__.py proj3/lib/__init__.py", "proj3/tests/test_x.py", "import lib\n", " - proj3/tests proj3"},
		{"the tests of a package", "lib4/__init__.py lib4/tests/__init__.py lib4/core.py", "lib4/tests/test_core.py", "from lib4.core import x\n", "lib4.tests.test_core . - lib4/tests"},

		{"Django's views", "site/manage.py site/polls/__init__.py site/polls/models.py", "site/polls/views.py", "from django.http import x\nfrom .models import y\n", "polls.views site - site/polls"},
		{"Django's tasks", "", "site/polls/tasks.py", "import django\ndjango.setup()\nfrom polls.models import y\n", "polls.tasks site - site/polls"},
		{"Django's models", "", "site/polls/models.py", "from django.db import models\n", " - site/polls site"},
		{"Django's migration", "site/polls/migrations/__init__.py", "site/polls/migrations/0001_initial.py", "from django.db import migrations\nimport polls.models\n",
			"polls.migrations.0001_initial site - site/polls/migrations"},

		{"relative in no package", "ns/part.py", "ns/mod.py", "from .part import x\n", "ns.mod . - ns"},
		{"relative in no package, what is not there", "ns1/part.py", "ns1/mod.py", "from . import gone\n", " ns1 - -"},
		{"relative below a name that cannot be imported", "n-s/part.py", "n-s/mod.py", "from . import part\n", " n-s - -"},
		{"relative, two levels up", "ns2/routers/x.py ns2/models.py", "ns2/routers/users.py", "from ..models import x\nfrom . import x\n", "ns2.routers.users . - ns2/routers"},
		{"relative below a package", "ns3/__init__.py ns3/deep/x.py", "ns3/deep/mod.py", "from . import x\n", "ns3.deep.mod . - ns3/deep"},
		{"by a directory's name", "src/server/models.py", "src/server/routers/users.py", "from server.models import x\n", "server.routers.users src - src/server/routers"},
		{"by a directory's name, what is not there", "redis/other.py", "redis/run.py", "from redis.client import x\n", " redis - -"},
		{"by a name that is beside it, too", "twice/twice/x.py twice/x.py", "twice/run.py", "from twice.x import y\n", " twice - -"},
		{"by its own name", "alone/other.py", "alone/aio.py", "import alone.aio\n", " alone - -"},
		{"by the name of an installed package", "grpc/other.py", "grpc/run.py", "import grpc.other\n", " grpc - -"},
		{"by the name of an installed package behind a directory", "site/yaml/x.py linked/yaml/__init__.py yaml/other.py", "yaml/run.py", "import yaml.other\n", " yaml - -"},
		{"by a name that leads here, since the project is installed", "linked/here/other.py", "linked/here/run.py", "import here.other\n", "here.run linked - linked/here"},
		{"a namespace's package", "space/inner/__init__.py space/other.py", "space/inner/mod.py", "import space.other\n", "space.inner.mod . - space/inner"},

		{"a name with dots", "dots/__init__.py", "dots/a.b.py", "from . import x\n", "dots.a_b . - dots"},
		{"what cannot be read", "plain/helper.py", "plain/gone.py", "-", " plain - -"},
	} {
		for file := range strings.FieldsSeq(c.files) {
			file, text, _ := strings.Cut(file, "=")
			put(file, text)
		}
		if c.text != "" && c.text != "-" {
			put(c.entry, c.text)
		}
		if got := inWords(PlaceOf(filepath.Join(base, filepath.FromSlash(c.entry)), installed), base); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	link := filepath.Join(base, "plain", "link.py")
	if err := os.Symlink(filepath.Join(base, "rel", "mod.py"), link); err != nil {
		t.Skip(err)
	}
	if got := inWords(PlaceOf(link, nil), base); got != "rel.mod . - rel" {
		t.Errorf("a link: got %q", got)
	}
}

// inWords formats a place with paths below base.
func inWords(p Place, base string) string {
	words := []string{p.Name}
	for _, dir := range []string{p.First, p.Behind, p.Last} {
		if dir == "" {
			words = append(words, "-")
			continue
		}
		rel, err := filepath.Rel(base, dir)
		if err != nil {
			rel = dir
		}
		words = append(words, filepath.ToSlash(rel))
	}
	return strings.Join(words, " ")
}

// BenchmarkPlace measures a part of every start.
func BenchmarkPlace(b *testing.B) {
	dir := b.TempDir()
	light, large := filepath.Join(dir, "light.py"), filepath.Join(dir, "large.py")
	text := "import json\n\ndef f(x):\n    return x\n"
	for file, n := range map[string]int{light: 1, large: 2500} {
		if err := os.WriteFile(file, []byte(strings.Repeat(text, n)), 0o600); err != nil {
			b.Fatal(err)
		}
		b.Run(filepath.Base(file), func(b *testing.B) {
			for b.Loop() {
				if p := PlaceOf(file, nil); p.Name != "" {
					b.Fatal(p)
				}
			}
		})
	}
}
