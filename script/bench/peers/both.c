/* Both ends of a TCP connection, or of two UDP sockets, over the loopback interface in
 * one thread: a byte forth and a byte back, without anybody to wait for or to wake.
 * That is what two passes through the kernel cost, and the most that one request after
 * another can come to by asking over and over instead of sleeping.
 *
 *   both tcp|udp SECONDS     prints transactions per second
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static void byTCP(int *x, int *y)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t size = sizeof a;
	int one = 1, l = socket(AF_INET, SOCK_STREAM, 0);

	*x = socket(AF_INET, SOCK_STREAM, 0);
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(l, (struct sockaddr *)&a, size) < 0 || listen(l, 1) < 0 || getsockname(l, (struct sockaddr *)&a, &size) < 0)
		die("listen");
	if (connect(*x, (struct sockaddr *)&a, size) < 0 || (*y = accept(l, NULL, NULL)) < 0)
		die("connect");
	if (setsockopt(*x, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0 || setsockopt(*y, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0)
		die("TCP_NODELAY");
}

static void byUDP(int *x, int *y)
{
	struct sockaddr_in a = { .sin_family = AF_INET }, b;
	socklen_t size = sizeof a;

	*x = socket(AF_INET, SOCK_DGRAM, 0);
	*y = socket(AF_INET, SOCK_DGRAM, 0);
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	b = a;
	if (bind(*x, (struct sockaddr *)&a, size) < 0 || getsockname(*x, (struct sockaddr *)&a, &size) < 0 ||
	    bind(*y, (struct sockaddr *)&b, size) < 0 || getsockname(*y, (struct sockaddr *)&b, &size) < 0)
		die("bind");
	if (connect(*x, (struct sockaddr *)&b, size) < 0 || connect(*y, (struct sockaddr *)&a, size) < 0)
		die("connect");
}

int main(int argc, char **argv)
{
	int x, y, udp = argc == 3 && !strcmp(argv[1], "udp");
	double seconds = argc == 3 ? atof(argv[2]) : 0, began, at;
	long done = 0;

	if (seconds <= 0 || (!udp && strcmp(argv[1], "tcp"))) {
		fprintf(stderr, "usage: both tcp|udp SECONDS\n");
		return 2;
	}
	(udp ? byUDP : byTCP)(&x, &y);
	for (began = at = now(); at < began + seconds; at = now())
		for (int i = 0; i < 100; i++, done++) {
			pass(x, y);
			pass(y, x);
		}
	printf("%.1f\n", done / (at - began));
	return 0;
}
