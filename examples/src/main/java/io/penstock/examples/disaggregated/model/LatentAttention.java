package io.penstock.examples.disaggregated.model;

import static java.util.Objects.requireNonNull;

import io.penstock.examples.disaggregated.tensors.ModelFileException;

/// Multi-head latent attention: the cache keeps one latent and one rotary key a token, for all heads.
///
/// The matrices that unfold a latent into keys and values are applied to the query and to the mixed latent instead, so
/// scores are products with what is cached.
final class LatentAttention implements Attention {
  private final LatentConfig latent;
  private final int hidden;
  private final Rotary rotary;
  private final Matrix query;
  /// Matrix from `x` to latent and rotary key.
  private final Matrix down;
  private final RmsNorm latentNorm;
  /// Matrices of each head, `[nope][rank]` and `[rank][value]`.
  private final Matrix[] keyUp;
  private final Matrix[] valueUp;
  private final Matrix output;

  private LatentAttention(ModelConfig config, LatentConfig latent, Rotary rotary, Matrix query, Matrix down,
      RmsNorm latentNorm, Matrix[] keyUp, Matrix[] valueUp, Matrix output) {
    this.latent = latent;
    this.hidden = config.hiddenSize();
    this.rotary = rotary;
    this.query = query;
    this.down = down;
    this.latentNorm = latentNorm;
    this.keyUp = keyUp;
    this.valueUp = valueUp;
    this.output = output;
  }

  static LatentAttention load(ModelConfig config, Rotary rotary, Linears linears) throws ModelFileException {
    LatentConfig latent = requireNonNull(config.latent(), "latent");
    int rank = latent.kvLoraRank();
    int hidden = config.hiddenSize();
    int headRows = latent.qkNopeHeadDim() + latent.vHeadDim();
    float[] up = linears.raw("kv_b_proj", config.heads() * headRows, rank);
    Matrix[] keyUp = new Matrix[config.heads()];
    Matrix[] valueUp = new Matrix[config.heads()];
    for (int head = 0; head < config.heads(); head++) {
      int keyRow = head * headRows;
      int valueRow = keyRow + latent.qkNopeHeadDim();
      keyUp[head] = new Matrix(latent.qkNopeHeadDim(), rank, rows(up, keyRow, latent.qkNopeHeadDim(), rank));
      valueUp[head] = Matrix.ofLinear(latent.vHeadDim(), rank, rows(up, valueRow, latent.vHeadDim(), rank));
    }
    return new LatentAttention(config, latent, rotary,
        linears.load("q_proj", config.heads() * latent.queryWidth(), hidden),
        linears.load("kv_a_proj_with_mqa", rank + latent.qkRopeHeadDim(), hidden),
        linears.norm("kv_a_layernorm", rank), keyUp, valueUp,
        linears.load("o_proj", hidden, config.heads() * latent.vHeadDim()));
  }

  private static float[] rows(float[] stored, int row, int count, int columns) {
    float[] part = new float[count * columns];
    System.arraycopy(stored, row * columns, part, 0, part.length);
    return part;
  }

  @Override
  public float[] query(float[] x, int head, int position) {
    int nope = latent.qkNopeHeadDim();
    float[] plain = query.times(x, head * latent.queryWidth(), nope);
    float[] turned = query.times(x, head * latent.queryWidth() + nope, latent.qkRopeHeadDim());
    rotary.turn(turned, 0, position);
    float[] absorbed = keyUp[head].times(plain);
    float[] all = new float[absorbed.length + turned.length];
    System.arraycopy(absorbed, 0, all, 0, absorbed.length);
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
    rotary.turn(turned, 0, position);
    return turned;
  }

  @Override
  public float[] output(float[] mixed, int head) {
    float[] value = valueUp[head].times(mixed);
    float[] sum = new float[hidden];
    output.addTimes(value, head * latent.vHeadDim(), 0, sum);
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
