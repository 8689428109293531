/**
 * English words used in questions and orders about anything: what is wanted, how it goes, and
 * things common to everyone's work. A block that contains them need not be about the question.
 */
const WORDS =
  'able accept access action actual actually add advice allow already always amount another answer anything ' +
  'app apply around ask available avoid away back bad base basic become begin behave behaviour behavior best better ' +
  'big bit break bring broken bug build button call case cause change check choose clean clear code come ' +
  'command comment compare complete computer consider contain continue convert copy correct count crash create ' +
  'current currently data date day decide default define delete describe detail difference different display ' +
  'document done draft due easy edit else end enough ensure error even ever every everything example exist ' +
  'expect explain explanation fail failing failure fast feature file find fine finish first fix folder follow ' +
  'format function general generate get give go going good great group guess guide half hand handle hang ' +
  'happen hard head hello help hi hold home hour idea implement important improve include info ' +
  'information inside install instead issue item job just keep kind know large last later latest learn least ' +
  'leave left less let level life like line list little live load long longer look lot main make many ' +
  'matter maybe mean meaning meet method middle mine minute miss missing mode month morning move much name ' +
  'near necessary need never new next nice night normal note nothing notice now number object often old one ' +
  'open option order original others output page part pass past path people person pick piece place plan ' +
  'please point possible prefer previous print problem process produce program project proper properly provide ' +
  'purpose put question quick quickly quite rather reach read ready real really reason recent recommend ' +
  'refactor remain remember remove rename repeat replace report request require responsible rest result return ' +
  'review rewrite right rule run safe save say screen search second section see seem select send sense ' +
  'service set setting setup several short show side similar simple simply since single size slow small ' +
  'solution solve somebody someone something sometimes somewhere sort sound source start state step stick ' +
  'still stop stuff style suggest summarise summarize summary support sure system table take talk task tell ' +
  'term test text thank thanks thing think though thought thousand time today together tomorrow tool ' +
  'total touch translate tried true try turn two type understand update use used useful user using usual ' +
  'usually value variable various version via view wait walk want way week well whatever whole wish ' +
  'within without wonder word work world worth write wrong year yes yesterday yet ' +
  'became began begun brought built came chose done drew felt found gave given gone got held kept knew known laid ' +
  'led left lost made meant met paid put ran said saw seen sent shown spent stood taken taught thought told ' +
  'took understood used went written wrote ' +
  'monday tuesday wednesday thursday friday saturday sunday january february march april june july august september ' +
  'october november december morning evening red green blue yellow black white grey first three four five six seven ' +
  'eight nine ten hundred far high low top bottom left wide tall fully please sorry ' +
  'branch commit merge pull push undo revert repo repository';

/** Function words. Unlike stop words, which are not indexed, they only lose weight. */
const FUNCTION_WORDS =
  'aboard above across after against ago ahead alone along almost although altogether amid among anybody anyone ' +
  'anywhere apart aside before beforehand behind below beneath beside besides between beyond despite down either ' +
  'elsewhere especially etc exactly except fewer forth forward furthermore hence herself himself however indeed ' +
  'inward lest likewise meanwhile mere moreover mostly myself namely neither nevertheless nobody none ' +
  'nonetheless notwithstanding nowhere off onto onward otherwise ought ourselves outside overall per perhaps plus ' +
  'rarely recently regarding seldom somehow somewhat soon suddenly theirs themselves thereby therefore ' +
  'throughout thus till toward towards underneath unless unlike upward versus whenever whereas wherever whilst ' +
  'whoever yours yourself yourselves';

/** The words, lower case, unstemmed. */
export const askingWords: readonly string[] = `${WORDS} ${FUNCTION_WORDS}`.split(' ');
