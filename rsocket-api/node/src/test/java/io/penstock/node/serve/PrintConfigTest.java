package io.penstock.node.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.CommandLineRun;
import io.penstock.node.config.NodeSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

final class PrintConfigTest {
  @TempDir
  Path folder;

  @Test
  void table_showsEverySettingWithItsOrigin() throws IOException {
    Path file = Files.writeString(folder.resolve("node.yaml"), "model: llama\nblock:\n  bytes: 1MiB\n");

    CommandLineRun run = CommandLineRun.with(Map.of("PENSTOCK_DRAM", "100 blocks"), new byte[0],
        "serve", "--print-config", "--config", file.toString(), "--loops", "1", "--drain-timeout", "90s");

    assertThat(run.exitCode()).isZero();
    assertThat(run.err()).isEmpty();
    assertThat(run.out()).isEqualTo("""
        KEY                            VALUE                    FROM
        listen.host                    127.0.0.1                default
        listen.port                    7733                     default
        open.to.network                false                    default
        admin.host                     127.0.0.1                default
        admin.port                     7780                     default
        admin.names                    none                     default
        admin.health.open              false                    default
        admin.connections              64                       default
        admin.timeout                  10s                      default
        registry                       false                    default
        rank.side                      none                     default
        rank.instance                  penstock                 default
        rank.number                    0                        default
        rank.tp                        1                        default
        rank.pp                        1                        default
        rank.dp                        1                        default
        rank.pcp                       1                        default
        rank.dcp                       1                        default
        rank.registry                  none                     default
        rank.registry.user             none                     default
        rank.registry.password.file    off                      default
        rank.registry.tls              auto                     default
        rank.secret.file               off                      default
        rank.engine                    none                     default
        rank.lease                     30s                      default
        rank.lease.longest             30m                      default
        rank.bootstrap                 5m                       default
        cluster                        none                     default
        cluster.seeds                  none                     default
        cluster.host                   127.0.0.1                default
        cluster.port                   7800                     default
        cluster.node                   auto                     default
        cluster.place                  none                     default
        cluster.secret.file            off                      default
        cluster.tls                    auto                     default
        cluster.user                   none                     default
        cluster.password.file          off                      default
        cluster.task.rate              256 MiB                  default
        cluster.hot.rate               64 MiB                   default
        resp                           off                      default
        resp.tls                       true                     default
        resp.spaces                    values                   default
        resp.part.bytes                262656 B,66048 B,4608 B  default
        resp.value.most                512 MiB                  default
        resp.connections               10000                    default
        resp.room.timeout              350ms                    default
        resp.grace                     2s                       default
        resp.awake.micros              50                       default
        resp.flush                     false                    default
        s3                             off                      default
        s3.tls                         true                     default
        s3.spaces                      values                   default
        s3.part.bytes                  262656 B,66048 B,4608 B  default
        s3.keys.file                   off                      default
        s3.domains                     localhost                default
        s3.prefix                      none                     default
        s3.value.most                  512 MiB                  default
        s3.connections                 10000                    default
        s3.room.timeout                350ms                    default
        s3.upload.life                 1h                       default
        s3.uploads                     1000                     default
        doors.names.bytes              auto                     default
        doors.names.rate               64 MiB                   default
        listen.socket                  off                      default
        listen.ws.port                 off                      default
        listen.ws.origins              none                     default
        transport.protocol             auto                     default
        transport.fallback             false                    default
        transport.congestion           automatic                default
        transport.carrier              auto                     default
        transport.rings                16                       default
        transport.ring.spin.micros     0                        default
        transport.awake.micros         100                      default
        regions.folder                 off                      default
        transport.send.buffer          auto                     default
        transport.receive.buffer       auto                     default
        advertise.host                 auto                     default
        advertise.towards              auto                     default
        model                          llama                    %1$s line 1
        layers                         auto                     default
        block.tokens                   auto                     default
        kv.heads                       auto                     default
        head.dim                       auto                     default
        latent.rank                    auto                     default
        rope.dim                       auto                     default
        planes                         auto                     default
        kv.groups                      auto                     default
        kv.group                       auto                     default
        dtype                          bf16                     default
        order                          nhd                      default
        block.bytes                    1 MiB                    %1$s line 3
        fingerprint                    none                     default
        hbm                            off                      default
        hbm.device                     sim                      default
        dram                           100 blocks               PENSTOCK_DRAM
        dram.high                      auto                     default
        dram.low                       80                       default
        memory.pages                   auto                     default
        memory.lock                    false                    default
        memory.numa                    none                     default
        ssd                            off                      default
        ssd.dir                        none                     default
        ssd.engine                     chronicle                default
        ssd.segment.bytes              auto                     default
        ssd.capacity                   auto                     default
        ssd.cache                      auto                     default
        ssd.keep.free                  256 MiB                  default
        ssd.disk.high                  90                       default
        ssd.disk.low                   80                       default
        ssd.queue.bytes                256 MiB                  default
        ssd.queue.blocks               65536                    default
        ssd.save                       false                    default
        ssd.durability                 interval                 default
        ssd.sync.interval              1s                       default
        ssd.sync.bytes                 256 MiB                  default
        ssd.scrub.rate                 8 MiB                    default
        ssd.scrub.pass                 24h                      default
        ssd.quarantine.bytes           256 MiB                  default
        ssd.quarantine.records         1024                     default
        ssd.stall.after                5s                       default
        write.policy                   auto                     default
        stack.mode                     exclusive                default
        policy                         adaptive                 default
        exact                          false                    default
        ssd.offload.uses               0                        default
        ssd.promote.hits               1                        default
        ssd.prefetch.blocks            0                        default
        lease.life                     10s                      default
        pin.life                       30m                      default
        pin.percent                    50                       default
        whatif.samples                 4096                     default
        record                         off                      default
        record.payloads                false                    default
        record.size                    8 GiB                    default
        record.age                     none                     default
        record.full                    drop                     default
        record.last                    none                     default
        record.last.dir                recordings               default
        spaces.open                    false                    default
        spaces.open.most               8                        default
        spaces.open.percent            25                       default
        budget                         64 MiB                   default
        slice.bytes                    512 KiB                  default
        window.blocks                  64                       default
        reserve.blocks                 128                      default
        waiters                        1024                     default
        events.kept                    65536                    default
        loops                          1                        --loops
        await.timeout                  1m                       default
        room.timeout                   30s                      default
        stall.timeout                  30s                      default
        idle.grace                     15ms                     default
        drain.timeout                  90s                      --drain-timeout
        connections                    1024                     default
        connections.by.address         512                      default
        newcomers                      256                      default
        setup.timeout                  5s                       default
        silence.timeout                5m                       default
        frames.bytes                   32 MiB                   default
        frame.timeout                  10s                      default
        limits.requests                off                      default
        limits.bytes                   off                      default
        tls.cert                       off                      default
        tls.key                        off                      default
        tls.trust                      off                      default
        tls.client.auth                none                     default
        auth.users                     off                      default
        access.rules                   off                      default
        reload.interval                10s                      default
        sidecar                        off                      default
        sidecar.client.bytes           64 GiB                   default
        sidecar.bytes                  256 GiB                  default
        kv.events.host                 127.0.0.1                default
        kv.events.port                 off                      default
        kv.events.replay.port          off                      default
        kv.events.topic                kv-events                default
        kv.events.layout               map                      default
        kv.events.hashes               int                      default
        kv.events.steps                10000                    default
        kv.events.high.water           100000                   default
        kv.events.salted               false                    default
        kv.events.tokens               0                        default
        kv.events.of                   node                     default
        log.level                      warn                     default
        log.slow.transfer              1s                       default
        ascend.lib                     auto                     default
        ascend.device                  0                        default
        ascend.visible.devices         all                      default
        ascend.transfer.timeout        10s                      default
        ascend.in.flight               100                      default
        ascend.queue                   1024                     default
        ascend.unsupported.falls.back  false                    default
        ascend.buffer.pool             0:0                      default
        ascend.fabric.memory           false                    default

        blocks: 1 MiB = 8 layers x 16 tokens x (key 1x2048 + value 1x2048) x bf16, nhd
        """.formatted(file));
  }

  @Test
  void json_carriesTheSameForMachines() throws IOException {
    CommandLineRun run = CommandLineRun.of("serve", "--print-config", "--json", "--budget", "32MiB");

    JsonNode rows = JsonMapper.shared().readTree(run.out());
    assertThat(rows).hasSize(NodeSettings.ALL.size());
    assertThat(rows.valueStream().filter(row -> row.get("key").asString().equals("budget")).map(JsonNode::toString))
        .containsExactly("{\"key\":\"budget\",\"value\":\"32 MiB\",\"source\":\"flag\",\"origin\":\"--budget\","
            + "\"variable\":\"PENSTOCK_BUDGET\",\"flag\":\"--budget\",\"aliases\":[],\"noEffect\":null}");
  }

  @Test
  void json_hasTheSettingsOfEachSpace() throws IOException {
    Path file = Files.writeString(folder.resolve("spaces.yaml"), """
        dram: 1GiB
        block.bytes: 64KiB
        spaces:
          chat: {model: m, weight: 3}
          tenant: {model: m, salt: secret, ssd.quota: 1GiB}
        """);
    CommandLineRun run = CommandLineRun.of("serve", "--print-config", "--json", "--config", file.toString());

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).doesNotContain("\"secret")
        .contains("{\"key\":\"spaces.chat.weight\",\"value\":\"3\",\"source\":\"file\",\"origin\":\"" + file
            + " line 4\",\"variable\":null,\"flag\":null,\"aliases\":[],\"noEffect\":null}")
        .contains("{\"key\":\"spaces.tenant.ssd.quota\",\"value\":\"1 GiB\"")
        .contains("{\"key\":\"spaces.tenant.salt\",\"value\":\"stated\"")
        .contains("{\"key\":\"spaces.chat.block.bytes\",\"value\":\"64 KiB\"");
  }

  @Test
  void variableOfAnotherProgram_isShownWithItsName_andWhyItHasNoEffect() {
    CommandLineRun run = CommandLineRun.with(Map.of("ASCEND_TRANSFER_TIMEOUT", "3000", "HCCL_RDMA_SL", "5"),
        new byte[0], "serve", "--print-config");

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).containsPattern("ascend\\.transfer\\.timeout +3s +ASCEND_TRANSFER_TIMEOUT\n")
        .containsPattern("ascend\\.rdma\\.service\\.level +5 +HCCL_RDMA_SL\n")
        .contains(
            "\n\nascend.rdma.service.level has no effect here because Penstock makes no links between devices: "
                + "blocks travel between nodes over RSocket"
                + " (was 5, from HCCL_RDMA_SL)\n")
        .doesNotContain("ascend.base.port");
  }

  @Test
  void settingsThatExcludeEachOther_endTheStartNamingBoth() {
    CommandLineRun run = CommandLineRun.with(Map.of("ASCEND_BUFFER_POOL", "4:8", "ASCEND_USE_ASYNC_TRANSFER", "1"),
        new byte[0], "serve");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).isEqualTo(
        "serve: ascend.buffer.pool must be 0:0 with ascend.async.transfer true from ASCEND_USE_ASYNC_TRANSFER "
            + "(was 4:8, from ASCEND_BUFFER_POOL)\n");
  }

  @Test
  void badConfiguration_isMisuseAndListsEveryProblemOnStandardError() {
    CommandLineRun run =
        CommandLineRun.with(Map.of("PENSTOCK_LAYERS", "eight"), new byte[0], "serve", "--listen-port", "99999");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).isEqualTo(
        """
            serve: layers must be an integer from 1 to 1024, or auto (was eight, from PENSTOCK_LAYERS)
            serve: listen.port must be an integer from 0 to 65535, 0 for any free one, or a range such as 7733-7740 \
            (was 99999, from --listen-port)
            """);
  }

  @Test
  void replayOfKvEvents_needsThePortOfTheEvents() {
    CommandLineRun run = CommandLineRun.of("serve", "--kv-events-replay-port", "5558");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).isEqualTo("serve: kv.events.port must be a port for kv.events.replay.port 5558 from "
        + "--kv-events-replay-port (was off, from default)\n");
  }

  @Test
  void flagsOfReplay_areKnownHere() {
    CommandLineRun run =
        CommandLineRun.of("serve", "--print-config", "--ssd", "8GiB", "--ssd-dir", "blocks", "--engine", "plain",
            "--hbm", "10 blocks", "--write-through", "--durability", "always");
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).contains("plain", "write_through", "always");
    CommandLineRun twice = CommandLineRun.of("serve", "--print-config", "--engine", "plain", "--ssd-engine", "plain");
    assertThat(twice.exitCode()).isEqualTo(2);
    assertThat(twice.err()).contains("--engine must be left out with --ssd-engine, which means the same");
  }
}
