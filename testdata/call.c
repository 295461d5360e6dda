// The least that `pyplug call NAME HOOK WORD` can cost: the baseline of
// bench_call_test.go. It speaks the daemon protocol of runner/wire/daemon.go.
//
//     call BUILD NAME HOOK WORD

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { header = 9 };

static unsigned char *frame(unsigned char *to, char type, unsigned char call, size_t length) {
	for (int i = 0; i < 4; i++)
		to[i] = (unsigned char)(length >> (8 * i));
	to[4] = (unsigned char)type;
	to[5] = call;
	to[6] = to[7] = to[8] = 0;
	return to + header;
}

static unsigned char *text(unsigned char *to, const char *from, size_t length) {
	memcpy(to, from, length);
	return to + length;
}

int main(int argc, char **argv) {
	const char *base = getenv("PYPLUG_RUN_DIR");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat info;
	if (argc != 5 || !base)
		return 2;
	size_t build = strlen(argv[1]), hook = strlen(argv[3]) + 1, word = strlen(argv[4]) + 1;
	unsigned char request[4096], answer[4096];
	if (build + hook + word + 2 * header > sizeof request)
		return 2;

	snprintf(address.sun_path, sizeof address.sun_path, "%s", base);
	if (lstat(address.sun_path, &info) || !S_ISDIR(info.st_mode) || info.st_uid != geteuid() || info.st_mode & 077)
		return 9;
	snprintf(address.sun_path, sizeof address.sun_path, "%s/%s.sock", base, argv[2]);
	int conn = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct timeval patience = {.tv_usec = 200000};
	if (setsockopt(conn, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) ||
	    connect(conn, (struct sockaddr *)&address, sizeof address))
		return 9;

	unsigned char *end = text(frame(request, 'V', 0, build), argv[1], build);
	end = text(text(frame(end, 'A', 1, hook + word), argv[3], hook), argv[4], word);
	if (write(conn, request, (size_t)(end - request)) != end - request)
		return 9;

	size_t got = 0, length = 0;
	while (got < header || got < header + length) {
		ssize_t n = read(conn, answer + got, sizeof answer - 1 - got);
		if (n <= 0)
			return 8;
		got += (size_t)n;
		length = answer[0] | (size_t)answer[1] << 8 | (size_t)answer[2] << 16 | (size_t)answer[3] << 24;
		if (length > sizeof answer - 1 - header || (got > 4 && answer[4] != 'R'))
			return 1;
	}
	answer[header + length] = '\n';
	return write(1, answer + header, length + 1) == (ssize_t)length + 1 ? 0 : 1;
}
