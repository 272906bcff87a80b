/* SPDX-License-Identifier: MIT */
/*
 * handshakes THREADS SECONDS: TLS handshakes in memory with libssl, client and server in each
 * thread, one pair of contexts for all. Prints handshakes a second. It knows nothing of Pawl:
 * libssl's own read-write locks are what is measured.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

enum { MOST_THREADS = 256, MOST_STEPS = 20 };

static SSL_CTX *client_context, *server_context;
static double until;

static void good(int condition)
{
    if (condition)
        return;
    ERR_print_errors_fp(stderr);
    exit(1);
}

static double seconds_now(void)
{
    struct timespec t;
    good(clock_gettime(CLOCK_MONOTONIC, &t) == 0);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static X509 *certificate_of(EVP_PKEY *key)
{
    X509 *const made = X509_new();
    good(made != NULL);
    good(ASN1_INTEGER_set(X509_get_serialNumber(made), 1));
    good(X509_gmtime_adj(X509_getm_notBefore(made), 0) != NULL);
    good(X509_gmtime_adj(X509_getm_notAfter(made), 86400) != NULL);
    good(X509_set_pubkey(made, key));
    good(X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_ASC,
                                    (const unsigned char *)"loopback", -1, -1, 0));
    good(X509_set_issuer_name(made, X509_get_subject_name(made)));
    good(X509_sign(made, key, EVP_sha256()) > 0);
    return made;
}

static void make_contexts(void)
{
    EVP_PKEY *const key = EVP_EC_gen("P-256");
    good(key != NULL);
    X509 *certificate = certificate_of(key);
    server_context = SSL_CTX_new(TLS_server_method());
    client_context = SSL_CTX_new(TLS_client_method());
    good(server_context != NULL && client_context != NULL);
    good(SSL_CTX_use_certificate(server_context, certificate) == 1);
    good(SSL_CTX_use_PrivateKey(server_context, key) == 1);
    good(X509_STORE_add_cert(SSL_CTX_get_cert_store(client_context), certificate) == 1);
    SSL_CTX_set_verify(client_context, SSL_VERIFY_PEER, NULL);
    X509_free(certificate);
    EVP_PKEY_free(key);
}

static void step(SSL *one)
{
    const int result = SSL_do_handshake(one);
    good(result == 1 || SSL_get_error(one, result) == SSL_ERROR_WANT_READ);
}

static void handshake(void)
{
    SSL *const client = SSL_new(client_context), *const server = SSL_new(server_context);
    BIO *a, *b;
    int steps = 0;
    good(client != NULL && server != NULL && BIO_new_bio_pair(&a, 0, &b, 0) == 1);
    SSL_set_bio(client, a, a);
    SSL_set_bio(server, b, b);
    SSL_set_connect_state(client);
    SSL_set_accept_state(server);
    while (!SSL_is_init_finished(client) || !SSL_is_init_finished(server)) {
        good(steps++ < MOST_STEPS);
        step(client);
        step(server);
    }
    SSL_free(client);
    SSL_free(server);
}

static void *shake(void *count)
{
    while (seconds_now() < until) {
        handshake();
        ++*(uint64_t *)count;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static pthread_t threads[MOST_THREADS];
    static uint64_t counts[MOST_THREADS];
    const int wanted = argc == 3 ? atoi(argv[1]) : 0;
    const double seconds = argc == 3 ? atof(argv[2]) : 0;
    uint64_t all = 0;
    if (wanted < 1 || wanted > MOST_THREADS || !(seconds > 0 && seconds < 3600)) {
        fprintf(stderr, "handshakes: say THREADS (1 to %d) and SECONDS\n", MOST_THREADS);
        return 2;
    }
    make_contexts();
    double begin = seconds_now();
    until = begin + seconds;
    for (int i = 0; i < wanted; i++)
        good(pthread_create(&threads[i], NULL, shake, &counts[i]) == 0);
    for (int i = 0; i < wanted; i++) {
        good(pthread_join(threads[i], NULL) == 0);
        all += counts[i];
    }
    printf("%.1f\n", (double)all / (seconds_now() - begin));
    SSL_CTX_free(client_context);
    SSL_CTX_free(server_context);
    return 0;
}
