/**
 * English words that say little about a question's subject, though more than those of
 * `asking-words.ts`: a file with such a name is not identified by the word alone.
 */

/**
 * Words that apply to anything. They keep half of their weight: an index without them lacks no
 * subject.
 */
const ORDINARY =
  'abandon accurate achieve acquire act adapt adjust admit afford agree aim allocate announce annoying answered ' +
  'appear applied appropriate approach approve argue arise arrange arrive aspect assign assist assume attempt ' +
  'attend automatic automatically aware balance based basically bear belong benefit bind body book bother bound ' +
  'brief briefly broad busy calculate calm capable careful carry catch central certain chance character charge ' +
  'cheap chosen circumstance claim climb close collect combine comfortable commonly communicate complain ' +
  'complex complicated compute concept concern conclude condition confirm confuse connect consequence considered ' +
  'consist constant consume continuous contrast contribute control convenient cost count cover critical cross ' +
  'curious customise customize cut daily danger deal dear deep demand deny depend derive deserve design desire ' +
  'destroy detect determine develop differ difficult direct disappear discover discuss distinguish divide double ' +
  'doubt drawn dream driven drop duplicate duration eager early easily eat effect effort email employ empty encounter ' +
  'enter entire environment equal especially essential establish estimate evaluate event eventually everybody ' +
  'everyone evidence exact examine exceed excellent exceptional exclude execute exercise expand experience ' +
  'explicit explicitly explore extend extra extract extreme face fact fall familiar favourite feel few fight ' +
  'figure fill final finally fit flow focus force foreign forget forgotten form former fortunate forward free ' +
  'frequent frequently fresh friend fulfil full fundamental further future gather generally gentle glance goal ' +
  'gradually grateful grow guarantee guarantees habit halfway happy hardly hate heavy heard hence hidden hide hope ' +
  'hit human hurry hurt idea ideal identify ignore imagine immediate immediately impact impossible indicate ' +
  'individual influence initial initially inner insist inspect instance instruct intend interest internal ' +
  'internally introduce invent investigate invite involve join judge jump keen kill kinds label lack ' +
  'largely largest lie lift light likely limit limited listen locate lock loose lose loss loud love low lower ' +
  'lucky mainly maintain major manage manner manual manually mark match matters maximum measure mechanism mention ' +
  'mind minimum minor mistake mix modify moment monitor mostly motion multiple natural nearly neat negative neither ' +
  'newer newest nobody noon normalise normalize noise notify obtain obvious obviously occasion occasionally occur ' +
  'occurred odd offer ordinary organise organize otherwise owe own owner owns partial partly particular ' +
  'patient pause perform perfect permanent permit personal plain play pleasant plenty popular position positive ' +
  'potential practical practice precise prepare presence present press pretend prevent previously price primary ' +
  'prior probably promise propose protect prove public purely push qualify quantity quiet raise random range rapid ' +
  'rare rarely rate ratio reachable react reaction realise realize reasonable recall receive recognise recognize ' +
  'recover reduce refer reflect refuse regard regular regularly reject relate relation relative release relevant ' +
  'rely replacement represent resolve respect respond responsibility restrict retain reveal reverse risk role rough ' +
  'roughly round routine satisfy scan scared schedule scope seek seldom sensible separate separately sequence ' +
  'serious settle share sharp shift shut sick sight sign silent situation skip slightly smart smaller smallest ' +
  'smooth soft somebody soon speak special specific specify speed spend split spot spread stable stage stand ' +
  'standard status stay steady strange strategy strict strip strong struggle subject succeed success successful ' +
  'sudden suffer sufficient suit suitable supply suppose surprise survive suspect swap switch symptom tend ' +
  'temporary terrible though threw throw tidy tight tiny tip title told torn tough towards track train treat trick ' +
  'trigger trouble trust truth typical typically ultimate unable unclear understood undo unexpected unique unit ' +
  'unknown unlikely unusual upset urgent valid vary verify versus visible visit voice wake warn waste watch weak ' +
  'wear weird welcome win wise withdraw wonderful worry worse worst worth wrap zero';

/** Things found in any software, office or home. They weigh by their rarity. */
const THINGS =
  'account action address admin agent alarm alert alias animal answer app application archive area argument array ' +
  'article asset audio auth authentication author authorization backend backup badge balance bank banner batch ' +
  'benchmark bill billing binary block blog board boot booking border bot box breakfast browser bucket buffer ' +
  'bundle byte cache calendar call callback camera car card cart cat catalog category certificate channel chapter ' +
  'chart chat checkout checklist child city class cleanup client clock cloud cluster code collection color colour ' +
  'column command comment commerce company component config configuration connection console constant contact ' +
  'container content contract contributing controller cookie core country coupon course credential crypto currency ' +
  'customer dashboard data database dataset deadline debug dependency deploy deployment desktop device diagram ' +
  'dialog dictionary diff dinner directory discount disk doc docs doctor document documentation dog domain door ' +
  'download driver editor element email employee encoding endpoint engine engineer entity entry environment error ' +
  'estimate event example exception expense experiment export expression faq feed feedback field filter firewall ' +
  'flag flight folder font food footer form forum framework frontend function game garden gateway glossary graph ' +
  'graphics group guide handler hardware hash header health heating history holiday home hook hospital host hotel ' +
  'house html http icon identity image import index infrastructure input insurance integration interface ' +
  'interview inventory invoice item job journal json kernel key keyboard kitchen label language laptop layer ' +
  'layout lead leave lesson letter library license licence link list loader local location lock log logger logging ' +
  'login logout long loop lunch machine mail map marketing markdown market math media meeting member memory menu ' +
  'message metadata metric middleware migration mobile mock model module money monitor monitoring movie museum ' +
  'music namespace navigation network news newsletter node note notification number object office onboarding ' +
  'operation operator option order organization output overview owner package page pagination panel parameter ' +
  'parser partner password patch path payment payroll performance permission phone photo pipeline platform player ' +
  'plugin policy pool port post price pricing printer privacy process processor product profile program project ' +
  'promise prompt property protocol provider proxy purchase quality query queue receipt recipe record redirect ' +
  'refund region register registration registry release render report repository request resource response rest ' +
  'restaurant restore retry review roadmap role roles room route router routing row rule runbook runner runtime ' +
  'salary sales sample schedule scheduler schema school score script scroll sdk search secret section security ' +
  'seed sensor server service session settings setup shell shipping shop sidebar signal signup site snapshot ' +
  'socket software sql stack staff stock storage store story strategy stream string style subscription summary ' +
  'support survey sync syntax system tab table tag target task tax team teams template terminal test testing tests ' +
  'text theme thread ticket timeline timeout timer todo toggle token toolbar topic trace tracker traffic training ' +
  'transaction transfer translation transport travel tree trip troubleshooting tutorial type types ui upgrade upload ' +
  'url user username utility vacation validation validator vehicle vendor version video view visitor volume wallet ' +
  'warehouse warning weather web webhook website wedding widget window work worker workflow workspace write year ' +
  'readme changelog main dist build lib src';

/** Lower case, unstemmed. */
export const ordinaryWords: readonly string[] = ORDINARY.split(' ');
/** Lower case, unstemmed. */
export const everydayThings: readonly string[] = THINGS.split(' ');
