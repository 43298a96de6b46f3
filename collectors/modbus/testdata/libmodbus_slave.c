/* A Modbus slave made with libmodbus, as a stranger to test against: unit 1, holding registers 100 to 139, coils 0 to 19.
 *
 * usage: libmodbus_slave tcp PORT | libmodbus_slave rtu DEVICE BAUD
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <modbus.h>

/* put spells a 32-bit value out on the wire, letter by letter: A is its most significant byte. libmodbus has
 * functions with such names, but up to 3.1.6 they mean the bytes in the memory of a little-endian machine. */
static void put(uint16_t *r, float value, const char *order) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 4; i++) {
        uint8_t byte = (uint8_t) (bits >> 8 * ('D' - order[i]));
        r[i / 2] = (uint16_t) (r[i / 2] << 8 | byte);
    }
}

static void fill(modbus_mapping_t *map) {
    uint16_t *r = map->tab_registers;
    put(r + 0, 123.456f, "ABCD");
    put(r + 2, 123.456f, "CDAB");
    put(r + 4, 123.456f, "BADC");
    put(r + 6, 123.456f, "DCBA");
    MODBUS_SET_INT32_TO_INT16(r, 8, -100000);
    MODBUS_SET_INT64_TO_INT16(r, 10, -100000LL);
    r[14] = (uint16_t) -200;
    r[15] = 65336;
    for (int i = 16; i < 40; i++) {
        r[i] = 1000 + i;
    }
    for (int i = 0; i < 20; i++) {
        map->tab_bits[i] = i % 3 == 0;
    }
}

static void serve(modbus_t *ctx, modbus_mapping_t *map) {
    uint8_t query[MODBUS_MAX_ADU_LENGTH];
    for (;;) {
        int n = modbus_receive(ctx, query);
        if (n > 0 && modbus_reply(ctx, query, n, map) == -1 && errno != EMBXILADD && errno != EMBXILVAL && errno != EMBXILFUN) {
            return;
        }
        if (n == -1 && errno != EMBBADCRC && errno != ETIMEDOUT) {
            return;
        }
    }
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: libmodbus_slave tcp PORT | rtu DEVICE BAUD\n");
        return 2;
    }
    modbus_mapping_t *map = modbus_mapping_new_start_address(0, 20, 0, 0, 100, 40, 0, 0);
    int rtu = strcmp(argv[1], "rtu") == 0;
    modbus_t *ctx = rtu ? modbus_new_rtu(argv[2], atoi(argv[3]), 'N', 8, 1) : modbus_new_tcp("127.0.0.1", atoi(argv[2]));
    if (map == NULL || ctx == NULL || modbus_set_slave(ctx, 1) == -1) {
        fprintf(stderr, "libmodbus: %s\n", modbus_strerror(errno));
        return 1;
    }
    fill(map);
    if (rtu) {
        if (modbus_connect(ctx) == -1) {
            fprintf(stderr, "%s: %s\n", argv[2], modbus_strerror(errno));
            return 1;
        }
        serve(ctx, map);
        return 0;
    }
    int listener = modbus_tcp_listen(ctx, 1);
    while (listener != -1 && modbus_tcp_accept(ctx, &listener) != -1) {
        serve(ctx, map);
        modbus_close(ctx);
    }
    fprintf(stderr, "port %s: %s\n", argv[2], modbus_strerror(errno));
    return 1;
}
