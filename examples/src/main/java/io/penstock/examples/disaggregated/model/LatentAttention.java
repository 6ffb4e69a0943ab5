package io.penstock.examples.disaggregated.model;

import static java.util.Objects.requireNonNull;

import io.penstock.examples.disaggregated.tensors.ModelFileException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Multi-head latent attention: the cache keeps one latent and one rotary key a token, for all heads.
///
/// The matrices that unfold a latent into keys and values are applied to the query and to the mixed latent instead, so
/// scores are products with what is cached.
///
/// @param query of the rank's heads
/// @param down matrix from `x` to latent and rotary key, which every rank has
/// @param heads matrices of the rank's heads
/// @param output matrix from the values of the rank's heads
/// @param firstHead number of the rank's first head
record LatentAttention(int hidden, LatentConfig latent, Rotary rotary, Projection query, Matrix down,
    RmsNorm latentNorm, List<Head> heads, Matrix output, int firstHead) implements Attention {
  /// @param keyUp `[nope][rank]`
  /// @param valueUp `[rank][value]`
  record Head(Matrix keyUp, Matrix valueUp) {}

  static LatentAttention load(ModelConfig config, ModelPart part, Rotary rotary, Linears linears)
      throws ModelFileException {
    LatentConfig latent = requireNonNull(config.latent(), "latent");
    int first = part.first(config.heads());
    int count = part.count(config.heads());
    List<Head> heads = new ArrayList<>();
    for (int head = first; head < first + count; head++) {
      heads.add(head(latent, linears.rows("kv_b_proj", head * latent.unfoldedWidth(), latent.unfoldedWidth())));
    }
    return new LatentAttention(config.hiddenSize(), latent, rotary,
        Projection.load(linears, "q_proj", 0, first, count, latent.queryWidth()), linears.all("kv_a_proj_with_mqa"),
        linears.norm("kv_a_layernorm", ModelConfig.LATENT_NORM_EPS), heads,
        linears.inputs("o_proj", first * latent.vHeadDim(), count * latent.vHeadDim()), first);
  }

  private static Head head(LatentConfig latent, float[] up) {
    int rank = latent.kvLoraRank();
    int keys = latent.qkNopeHeadDim() * rank;
    return new Head(new Matrix(latent.qkNopeHeadDim(), rank, Arrays.copyOf(up, keys)),
        Matrix.ofLinear(latent.vHeadDim(), rank, Arrays.copyOfRange(up, keys, up.length)));
  }

  @Override
  public float[] query(float[] x, int head, int position) {
    int nope = latent.qkNopeHeadDim();
    float[] whole = query.of(x, head);
    float[] turned = Arrays.copyOfRange(whole, nope, whole.length);
    rotary.turn(turned, position);
    float[] absorbed = heads.get(head - firstHead).keyUp().times(Arrays.copyOf(whole, nope));
    float[] all = Arrays.copyOf(absorbed, absorbed.length + turned.length);
    System.arraycopy(turned, 0, all, absorbed.length, turned.length);
    Vectors.scale(all, 1 / (float) StrictMath.sqrt(latent.queryWidth()));
    return all;
  }

  @Override
  public float[] cached(float[] x, int plane, int kvHead, int position) {
    if (plane == 0) {
      return latentNorm.of(down.times(x, 0, latent.kvLoraRank()));
    }
    float[] turned = down.times(x, latent.kvLoraRank(), latent.qkRopeHeadDim());
    rotary.turn(turned, position);
    return turned;
  }

  @Override
  public float[] output(float[] mixed, int head) {
    float[] value = heads.get(head - firstHead).valueUp().times(mixed);
    float[] sum = new float[hidden];
    output.addTimes(value, (head - firstHead) * latent.vHeadDim(), 0, sum);
    return sum;
  }

  @Override
  public int kvHead(int head) {
    return 0;
  }

  @Override
  public TileScorer scorer() {
    return TileScorer.LATENT;
  }
}
