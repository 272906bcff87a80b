/* SPDX-License-Identifier: MIT */
/*
 * openssl JOB THREADS SECONDS (../jobs.h): threads that use OpenSSL 3 in one way, each with objects
 * of its own but for what the job names.
 */
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

#include "../jobs.h"

#define BUNDLE "/etc/ssl/certs/ca-certificates.crt"

enum { MOST_STEPS = 20 };

/* What the threads share. */
static SSL_CTX *client_context, *server_context;
static X509_STORE *store;
static X509 *certificate;
static char *pem;
static unsigned char *der;
static long pem_size, der_size;
/* A ticket is good for one handshake of TLS 1.3, which brings the next one. */
static _Thread_local SSL_SESSION *ticket;

static void fails(const char *what)
{
    fprintf(stderr, "openssl: %s failed\n", what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

/* ---- What they share is made ----------------------------------------------------------------- */

static void make_certificate(EVP_PKEY *key)
{
    X509_NAME *name;
    good((certificate = X509_new()) != NULL);
    good(ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1));
    good(X509_gmtime_adj(X509_getm_notBefore(certificate), 0) != NULL);
    good(X509_gmtime_adj(X509_getm_notAfter(certificate), 86400) != NULL);
    good(X509_set_pubkey(certificate, key));
    name = X509_get_subject_name(certificate);
    good(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"loopback", -1,
                                    -1, 0));
    good(X509_set_issuer_name(certificate, name));
    good(X509_sign(certificate, key, EVP_sha256()) > 0);
}

static int keep_ticket(SSL *ssl, SSL_SESSION *made)
{
    (void)ssl;
    SSL_SESSION_free(ticket);
    ticket = made;
    return 1;
}

static void make_all(void)
{
    EVP_PKEY *const key = EVP_EC_gen("P-256");
    BIO *const memory = BIO_new(BIO_s_mem());
    char *text;
    good(key != NULL && memory != NULL);
    make_certificate(key);
    good(PEM_write_bio_PrivateKey(memory, key, NULL, NULL, 0, NULL, NULL));
    pem_size = BIO_get_mem_data(memory, &text);
    good((pem = malloc((size_t)pem_size)) != NULL);
    memcpy(pem, text, (size_t)pem_size);
    der_size = i2d_X509(certificate, &der);
    good(der_size > 0);
    good((store = X509_STORE_new()) != NULL && X509_STORE_add_cert(store, certificate) == 1);
    server_context = SSL_CTX_new(TLS_server_method());
    client_context = SSL_CTX_new(TLS_client_method());
    good(server_context != NULL && client_context != NULL);
    good(SSL_CTX_use_certificate(server_context, certificate) == 1);
    good(SSL_CTX_use_PrivateKey(server_context, key) == 1);
    good(X509_STORE_add_cert(SSL_CTX_get_cert_store(client_context), certificate) == 1);
    SSL_CTX_set_verify(client_context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_session_cache_mode(client_context,
                                   SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(client_context, keep_ticket);
    BIO_free(memory);
    EVP_PKEY_free(key);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static void fetch_digest(void)
{
    EVP_MD *const made = EVP_MD_fetch(NULL, "SHA256", NULL);
    good(made != NULL);
    EVP_MD_free(made);
}

static void fetch_cipher(void)
{
    EVP_CIPHER *const made = EVP_CIPHER_fetch(NULL, "AES-128-GCM", NULL);
    good(made != NULL);
    EVP_CIPHER_free(made);
}

/* EVP_sha256 is a name: each use fetches what it names. */
static void digest(void)
{
    static const unsigned char text[64];
    unsigned char made[EVP_MAX_MD_SIZE];
    unsigned length;
    good(EVP_Digest(text, sizeof text, made, &length, EVP_sha256(), NULL));
}

static void pem_key(void)
{
    BIO *const memory = BIO_new_mem_buf(pem, (int)pem_size);
    EVP_PKEY *const key = PEM_read_bio_PrivateKey(memory, NULL, NULL, NULL);
    good(key != NULL);
    EVP_PKEY_free(key);
    BIO_free(memory);
}

static void d2i_x509(void)
{
    const unsigned char *at = der;
    X509 *const made = d2i_X509(NULL, &at, der_size);
    good(made != NULL);
    X509_free(made);
}

/* In the store that all threads use. */
static void issuer(void)
{
    static _Thread_local X509_STORE_CTX *context;
    X509 *found = NULL;
    if (context == NULL) {
        context = X509_STORE_CTX_new();
        good(context != NULL && X509_STORE_CTX_init(context, store, certificate, NULL));
    }
    good(X509_STORE_CTX_get1_issuer(&found, context, certificate) == 1);
    X509_free(found);
}

static void ca_bundle(void)
{
    SSL_CTX *const context = SSL_CTX_new(TLS_client_method());
    good(context != NULL && SSL_CTX_load_verify_locations(context, BUNDLE, NULL) == 1);
    SSL_CTX_free(context);
}

static void ssl_new(void)
{
    SSL *const made = SSL_new(client_context);
    good(made != NULL);
    SSL_free(made);
}

static void step(SSL *one)
{
    const int result = SSL_do_handshake(one);
    good(result == 1 || SSL_get_error(one, result) == SSL_ERROR_WANT_READ);
}

/* Client and server in memory, of the contexts that all threads use. */
static void shake(int resumes)
{
    SSL *const client = SSL_new(client_context), *const server = SSL_new(server_context);
    BIO *a, *b;
    char nothing;
    int steps = 0;
    good(client != NULL && server != NULL && BIO_new_bio_pair(&a, 0, &b, 0) == 1);
    SSL_set_bio(client, a, a);
    SSL_set_bio(server, b, b);
    SSL_set_connect_state(client);
    SSL_set_accept_state(server);
    good(!resumes || SSL_set_session(client, ticket) == 1);
    while (!SSL_is_init_finished(client) || !SSL_is_init_finished(server)) {
        good(steps++ < MOST_STEPS);
        step(client);
        step(server);
    }
    good(!resumes || SSL_session_reused(client));
    (void)SSL_read(client, &nothing, 1); /* the tickets */
    (void)SSL_shutdown(client);          /* else they would be no good any more */
    (void)SSL_shutdown(server);
    SSL_free(client);
    SSL_free(server);
}

static void handshake(void)
{
    shake(0);
}

static void handshake_resumed(void)
{
    if (ticket == NULL)
        shake(0);
    shake(1);
}

static const struct job jobs[] = {
    {"fetch-digest", fetch_digest},
    {"fetch-cipher", fetch_cipher},
    {"digest", digest},
    {"pem-key", pem_key},
    {"d2i-x509", d2i_x509},
    {"issuer", issuer},
    {"ca-bundle", ca_bundle},
    {"ssl-new", ssl_new},
    {"handshake", handshake},
    {"handshake-resumed", handshake_resumed},
};

int main(int argc, char **argv)
{
    return run_jobs(argc, argv, jobs, sizeof jobs / sizeof jobs[0], make_all);
}
