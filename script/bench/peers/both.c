/* Both ends of a TCP connection over the loopback interface in one thread: a byte
 * forth and a byte back, without anybody to wait for or to wake. That is what two
 * passes through TCP cost, and the most that one request after another can come to
 * by asking over and over instead of sleeping.
 *
 *   both SECONDS     prints transactions per second
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

static void die(const char *what) { perror(what); exit(1); }

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void pass(int from, int to)
{
	char c = 1;
	if (send(from, &c, 1, MSG_NOSIGNAL) != 1)
		die("send");
	while (recv(to, &c, 1, MSG_DONTWAIT) != 1)
		;
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t size = sizeof a;
	int one = 1, l = socket(AF_INET, SOCK_STREAM, 0), x = socket(AF_INET, SOCK_STREAM, 0), y;
	double seconds = argc == 2 ? atof(argv[1]) : 0, began, at;
	long done = 0;

	if (seconds <= 0) {
		fprintf(stderr, "usage: both SECONDS\n");
		return 2;
	}
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(l, (struct sockaddr *)&a, size) < 0 || listen(l, 1) < 0 || getsockname(l, (struct sockaddr *)&a, &size) < 0)
		die("listen");
	if (connect(x, (struct sockaddr *)&a, size) < 0 || (y = accept(l, NULL, NULL)) < 0)
		die("connect");
	if (setsockopt(x, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0 || setsockopt(y, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0)
		die("TCP_NODELAY");
	for (began = at = now(); at < began + seconds; at = now())
		for (int i = 0; i < 100; i++, done++) {
			pass(x, y);
			pass(y, x);
		}
	printf("%.1f\n", done / (at - began));
	return 0;
}
