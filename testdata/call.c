// The baseline of bench_call_test.go: the least work that `pyplug call NAME HOOK WORD`
// can do. It sends the request and reads the answer that docs/http.md documents.
//
//     call NAME HOOK WORD

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv) {
	const char *base = getenv("PYPLUG_RUN_DIR");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat info;
	if (argc != 4 || !base)
		return 2;
	char request[4096], answer[4096];

	snprintf(address.sun_path, sizeof address.sun_path, "%s", base);
	if (lstat(address.sun_path, &info) || !S_ISDIR(info.st_mode) || info.st_uid != geteuid() || info.st_mode & 077)
		return 9;
	snprintf(address.sun_path, sizeof address.sun_path, "%s/%s.sock", base, argv[1]);
	int conn = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct timeval limit = {.tv_usec = 200000};
	if (setsockopt(conn, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) ||
	    connect(conn, (struct sockaddr *)&address, sizeof address))
		return 9;

	int body = snprintf(NULL, 0, "{\"words\":[{\"typed\":\"%s\"}]}", argv[3]);
	int length = snprintf(request, sizeof request,
		"POST /hooks/%s HTTP/1.1\r\nHost: pyplug\r\nPyplug-Api: 1\r\n"
		"Content-Type: application/vnd.pyplug.words+json\r\nContent-Length: %d\r\n\r\n"
		"{\"words\":[{\"typed\":\"%s\"}]}", argv[2], body, argv[3]);
	if (length >= (int)sizeof request || write(conn, request, (size_t)length) != length)
		return 9;

	size_t got = 0, end = sizeof answer;
	char *value = NULL;
	while (got < end) {
		ssize_t n = read(conn, answer + got, sizeof answer - 2 - got);
		if (n <= 0)
			return 8;
		got += (size_t)n;
		answer[got] = 0;
		char *size = strstr(answer, "Content-Length: ");
		if (!value && (value = strstr(answer, "\r\n\r\n"))) {
			if (strncmp(answer, "HTTP/1.1 200 ", 13) || !size)
				return 1;
			value += 4;
			end = (size_t)(value - answer) + (size_t)atoi(size + 16);
			if (end > sizeof answer - 2)
				return 1;
		}
	}
	answer[end++] = '\n';
	return write(1, value, (size_t)(answer + end - value)) == answer + end - value ? 0 : 1;
}
